/**
 * Scrolling that follows the answer only while the reader is at the bottom.
 */

const NEAR_PX = 48;
const STILL_PX = 4;

/**
 * @param {HTMLElement} root
 */
export function followAnswers(root) {
  const pane = /** @type {HTMLElement} */ (root.querySelector("#messages"));
  const thread = /** @type {HTMLElement} */ (root.querySelector("#thread"));
  const jump = /** @type {HTMLButtonElement} */ (root.querySelector("#jump"));
  let following = true;
  let last = 0;

  const below = () => pane.scrollHeight - pane.scrollTop - pane.clientHeight;
  const toBottom = () => {
    following = true;
    pane.scrollTop = pane.scrollHeight;
    last = pane.scrollTop;
    show();
  };
  const show = () => {
    jump.hidden = following || below() < NEAR_PX;
  };

  pane.addEventListener("scroll", () => {
    // Only a movement upwards is the reader's: text that grows moves nothing.
    if (pane.scrollTop < last - 1) following = below() < STILL_PX;
    else if (below() < NEAR_PX) following = true;
    last = pane.scrollTop;
    show();
  });
  new ResizeObserver(() => {
    if (following) toBottom();
    else show();
  }).observe(thread);
  new ResizeObserver(() => following && toBottom()).observe(pane);
  thread.addEventListener("thread:asked", toBottom);
  jump.addEventListener("click", toBottom);
  toBottom();
}
