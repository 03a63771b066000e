/**
 * What the page shows of its connection: that it is away, once it has been so for long enough to be
 * seen; and who is not signed in any more is led to where one signs in. While it is away, nothing
 * is asked for again and again.
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
  let lost = false;
  client.on("open", () => {
    lost = false;
    clearTimeout(timer);
    timer = 0;
    root.removeAttribute("data-away");
  });
  const show = () => root.setAttribute("data-away", "");
  // The client hears of it first; where the server is on this machine, it is back at once.
  addEventListener("offline", () => lost && show());
  client.on("close", (/** @type {Closed} */ { again }) => {
    lost = true;
    if (again) {
      timer ||= setTimeout(show, AWAY_MS);
      return;
    }
    onLeave();
    const next = encodeURIComponent(location.pathname);
    location.assign(`${root.dataset.login}?next=${next}`);
  });
  document.addEventListener("htmx:beforeRequest", (event) => {
    const polled = event.target instanceof Element && isPolled(event.target);
    if (polled && lost) event.preventDefault();
  });
}

/** @param {Element} element */
function isPolled(element) {
  return element.getAttribute("hx-trigger")?.startsWith("every ") ?? false;
}
