/**
 * A line at the bottom of the page that says what was done, and offers to undo it for a while.
 */

const STAYS_MS = 10_000;
const LOOK_AGAIN_MS = 1000;

/** Shows what the page came with, and what requests bring. */
export function toasts() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const body = () => document.querySelector("#toast .toast-body");
  // Who points at it or has come to it by the keyboard is about to use it.
  const wanted = () => Boolean(document.querySelector("#toast:is(:hover, :has(:focus-visible))"));

  function stay(ms = STAYS_MS) {
    clearTimeout(timer);
    timer = setTimeout(() => (wanted() ? stay(LOOK_AGAIN_MS) : body()?.remove()), ms);
  }

  function shown() {
    if (!body()) return;
    // What was pressed is gone from the list.
    const lost = !document.activeElement || document.activeElement === document.body;
    const undo = /** @type {HTMLElement | null} */ (document.querySelector("#toast [data-undo]"));
    if (lost) undo?.focus();
    stay();
  }

  document.addEventListener("htmx:oobAfterSwap", (event) => {
    const { target } = /** @type {CustomEvent} */ (event).detail;
    // What was pressed goes behind this, in the same task.
    if (target instanceof Element && target.id === "toast") setTimeout(shown);
  });
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-toast-close]")) body()?.remove();
  });
  // A reload of a new conversation says it no more.
  if (body()) history.replaceState(history.state, "", location.pathname);
  if (body()) stay();
}
