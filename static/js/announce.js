/**
 * Says now and then, to people who hear the page, what those who see it watch: the text of
 * `[data-said]`, whenever it has changed, in the page's `[data-announce]`.
 */

const EVERY_MS = 10_000;

let last = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** Say what has changed, now or as soon as enough time has passed. */
export function announce() {
  const place = document.querySelector("[data-announce]");
  const said = /** @type {HTMLElement | null} */ (document.querySelector("[data-said]"));
  const text = said ? said.dataset.said || said.textContent?.replace(/\s+/g, " ").trim() : "";
  if (!place || !text || place.textContent === text) return;
  clearTimeout(timer);
  const wait = last + EVERY_MS - Date.now();
  if (wait > 0) {
    timer = setTimeout(announce, wait);
    return;
  }
  last = Date.now();
  place.textContent = text;
}

document.body.addEventListener("htmx:afterSettle", announce);
