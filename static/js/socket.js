/**
 * The page's socket, which htmx's extension opens and opens again.
 *
 * The extension would read each message as HTML and swap its elements into the page. So every
 * message is taken here, before that, and the event is always cancelled.
 */

/** @import { Frame, SocketWrapper } from "./types.d.ts" */

const NOT_SIGNED_IN = 4401;
const AWAY_MS = 1000;
// However long a page was away, it is back before its answer is given up (RUN_GRACE_SECONDS).
const LONGEST_WAIT_MS = 5000;

/**
 * @typedef {object} Handlers
 * @property {(frame: Frame) => void} onFrame
 * @property {() => void} onOpen
 */

/** Sends messages through the socket that the extension keeps on `root`. */
export class Socket {
  /**
   * @param {HTMLElement} root the element with `ws-connect`
   * @param {Handlers} handlers
   */
  constructor(root, { onFrame, onOpen }) {
    this.root = root;
    /** @type {SocketWrapper | null} */
    this.wrapper = null;
    this.open = false;
    window.htmx.config.wsReconnectDelay = reconnectDelay;
    root.addEventListener("htmx:wsBeforeMessage", (event) => {
      event.preventDefault();
      onFrame(JSON.parse(detail(event).message));
    });
    root.addEventListener("htmx:wsOpen", (event) => {
      this.wrapper = detail(event).socketWrapper;
      this.open = true;
      this.showConnection();
      onOpen();
    });
    root.addEventListener("htmx:wsClose", (event) => {
      this.open = false;
      if (detail(event).event.code === NOT_SIGNED_IN) signIn(root);
      setTimeout(() => this.showConnection(), AWAY_MS);
    });
  }

  /** @param {object} message */
  send(message) {
    this.wrapper?.send(JSON.stringify(message), this.root);
  }

  showConnection() {
    this.root.toggleAttribute("data-away", !this.open);
  }
}

/**
 * Return the milliseconds to wait, at random: a server that restarts is not stormed.
 * @param {number} tries how often it was tried in vain
 */
function reconnectDelay(tries) {
  return Math.random() * Math.min(1000 * 2 ** tries, LONGEST_WAIT_MS);
}

/** @param {Event} event */
function detail(event) {
  return /** @type {CustomEvent} */ (event).detail;
}

/** @param {HTMLElement} root */
function signIn(root) {
  const next = encodeURIComponent(location.pathname);
  location.assign(`${root.dataset.login}?next=${next}`);
}
