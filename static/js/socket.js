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
// The extension's own timer cannot be called off when there is a better moment.
const NEVER_MS = 2 ** 31 - 1;

/**
 * @typedef {object} Handlers
 * @property {(frame: Frame) => void} onFrame
 * @property {() => void} onOpen
 * @property {() => void} onLeave called before the page goes to where one signs in
 */

/** Sends messages through the socket that the extension keeps on `root`. */
export class Socket {
  /**
   * @param {HTMLElement} root the element with `ws-connect`
   * @param {Handlers} handlers
   */
  constructor(root, { onFrame, onOpen, onLeave }) {
    this.root = root;
    /** @type {SocketWrapper | null} */
    this.wrapper = null;
    this.open = false;
    /** @type {EventTarget | null} the one that is open, or was last */
    this.current = null;
    this.tries = 0;
    this.timers = { again: 0, away: 0 };
    window.htmx.config.wsReconnectDelay = () => NEVER_MS;
    root.addEventListener("htmx:wsBeforeMessage", (event) => {
      event.preventDefault();
      onFrame(JSON.parse(detail(event).message));
    });
    root.addEventListener("htmx:wsOpen", (event) => {
      this.wrapper = detail(event).socketWrapper;
      this.current = detail(event).event.target;
      this.tries = 0;
      this.open = true;
      this.showConnection();
      onOpen();
    });
    root.addEventListener("htmx:wsClose", (event) => {
      const { event: closed, socketWrapper } = detail(event);
      this.wrapper = socketWrapper;
      if (closed.code === NOT_SIGNED_IN) {
        onLeave();
        signIn(root);
      } else if (this.open ? closed.target === this.current : closed.target !== this.current) {
        this.lost();
      }
    });
    // A network that has come back is another one, where an old connection is dead.
    window.addEventListener("online", () => this.comeBack(true));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.comeBack(false);
    });
  }

  /** @param {object} message */
  send(message) {
    this.wrapper?.send(JSON.stringify(message), this.root);
  }

  /** The connection has ended, or could not be made: try again before long. */
  lost() {
    this.open = false;
    this.timers.away ||= setTimeout(() => this.showConnection(), AWAY_MS);
    clearTimeout(this.timers.again);
    this.timers.again = setTimeout(() => this.reconnect(), reconnectDelay(this.tries));
    this.tries += 1;
  }

  /**
   * Connect at once, instead of when it is time.
   * @param {boolean} anew also if a connection seems to be open
   */
  comeBack(anew) {
    if (!this.wrapper || (this.open ? !anew : !this.timers.again)) return;
    this.open = false;
    this.tries = 0;
    this.timers.away ||= setTimeout(() => this.showConnection(), AWAY_MS);
    this.reconnect();
  }

  reconnect() {
    clearTimeout(this.timers.again);
    this.timers.again = 0;
    this.wrapper?.reconnect();
  }

  /** Say that the page is away, once it has been so for long enough to be seen. */
  showConnection() {
    clearTimeout(this.timers.away);
    this.timers.away = 0;
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
