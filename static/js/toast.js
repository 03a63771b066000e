/**
 * Lines at the bottom of the page that say what was done, and offer to undo it for a while, or what
 * could not be done.
 */

const STAYS_MS = 10_000;
const LOOK_AGAIN_MS = 1000;
// Who points at one or has come to it by the keyboard is about to use it; or waits for its button.
const WANTED = ":hover, :has(:focus-visible, .htmx-request)";

/** @type {WeakMap<Element, ReturnType<typeof setTimeout>>} */
const timers = new WeakMap();

/** Shows what the page came with, and what requests bring. */
export function toasts() {
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    const { target } = /** @type {CustomEvent} */ (event).detail;
    // What was pressed goes behind this, in the same task.
    if (target instanceof Element && target.id === "toast") setTimeout(shown);
  });
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    if (event.target.closest("[data-toast-close]")) event.target.closest(".toast-body")?.remove();
  });
  const body = document.querySelector("#toast .toast-body");
  if (!body) return;
  // A reload of a new conversation says it no more.
  history.replaceState(history.state, "", location.pathname);
  stay(body);
}

/**
 * Say that something could not be done, in the place of what was said before.
 * @param {string} text
 * @param {Element} pressed what asked for it: a toast that did stays
 */
export function warn(text, pressed) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById("toast-failed"));
  const warning = /** @type {Element} */ (template.content.firstElementChild?.cloneNode(true));
  /** @type {Element} */ (warning.querySelector(".toast-text")).textContent = text;
  calm();
  document.getElementById("toast")?.append(warning);
  stay(warning);
  const own = pressed.closest(".toast-body");
  if (own) stay(own);
}

/** Take away what was said of something that could not be done: it is being tried again. */
export function calm() {
  document.querySelector("#toast .toast-failed")?.remove();
}

function shown() {
  const body = document.querySelector("#toast .toast-body");
  if (!body) return;
  // What was pressed is gone from the list.
  const lost = !document.activeElement || document.activeElement === document.body;
  const undo = /** @type {HTMLElement | null} */ (body.querySelector("[data-undo]"));
  if (lost) undo?.focus();
  stay(body);
}

/**
 * @param {Element} body
 * @param {number} ms
 */
function stay(body, ms = STAYS_MS) {
  clearTimeout(timers.get(body));
  const look = () => (body.matches(WANTED) ? stay(body, LOOK_AGAIN_MS) : body.remove());
  timers.set(body, setTimeout(look, ms));
}
