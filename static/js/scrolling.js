/**
 * Scrolling that follows the answer only while the reader is at the bottom.
 */

import { linkedMessage } from "./message-link.js";

const NEAR_PX = 48;
const STILL_PX = 4;

/** @param {HTMLElement} root */
export function followAnswers(root) {
  const pane = /** @type {HTMLElement} */ (root.querySelector("#messages"));
  const jump = /** @type {HTMLButtonElement} */ (root.querySelector("#jump"));
  let following = true;
  let top = 0;

  const below = () => pane.scrollHeight - pane.scrollTop - pane.clientHeight;
  const arriving = () => ["searching", "streaming"].includes(root.dataset.state ?? "");
  const look = () => {
    top = pane.scrollTop;
    // Once there it stays until the bottom is reached, also when the answer has ended.
    jump.hidden = following || below() < NEAR_PX || (jump.hidden && !arriving());
  };
  const toBottom = () => {
    following = true;
    pane.scrollTop = pane.scrollHeight;
    look();
  };

  pane.addEventListener("scroll", () => {
    // Text that shrinks moves the pane too, but no further up than its new bottom.
    const readerWentUp = pane.scrollTop < top - 1 && below() >= STILL_PX;
    if (readerWentUp) following = false;
    else if (below() < NEAR_PX) following = true;
    look();
  });
  pane.addEventListener(
    "wheel",
    (event) => {
      if (event.deltaY < 0 && pane.scrollTop > 0) following = false;
    },
    { passive: true },
  );
  const resized = new ResizeObserver(() => (following ? toBottom() : look()));
  for (const element of [pane, ...pane.children]) resized.observe(element);
  root.addEventListener("thread:asked", toBottom);
  jump.addEventListener("click", toBottom);
  if (root.hasAttribute("data-new")) {
    // What a new conversation begins with is read from its top.
    following = false;
    return;
  }
  const linked = linkedMessage();
  if (!linked) {
    toBottom();
    return;
  }
  following = false;
  linked.scrollIntoView({ block: "start" });
  linked.focus({ preventScroll: true });
  look();
}
