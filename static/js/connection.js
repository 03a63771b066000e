/**
 * What the page shows of its connection: that it is away, once it has been so for long enough to be
 * seen; and who is not signed in any more is led to where one signs in.
 */

/** @import { Closed, FrameClient } from "./frames.js" */

const AWAY_MS = 1000;

/**
 * @param {HTMLElement} root
 * @param {FrameClient} client
 * @param {() => void} onLeave called before the page goes to where one signs in
 */
export function showConnection(root, client, onLeave) {
  let timer = 0;
  client.on("open", () => {
    clearTimeout(timer);
    timer = 0;
    root.removeAttribute("data-away");
  });
  client.on("close", (/** @type {Closed} */ { again }) => {
    if (again) {
      timer ||= setTimeout(() => root.setAttribute("data-away", ""), AWAY_MS);
      return;
    }
    onLeave();
    const next = encodeURIComponent(location.pathname);
    location.assign(`${root.dataset.login}?next=${next}`);
  });
}
