/**
 * A client for the frames of answers (docs/protocol.md): one module without dependencies, which
 * the chat page uses, and other pages and programs can.
 *
 *     const client = new FrameClient("https://docs.example.com");
 *     client.on("token", ({ text }) => process.stdout.write(text));
 *     client.on("done", () => client.close());
 *     client.ask("How far can the lamp be seen?");
 *
 * It hands on each frame once and in order, comes back when the connection is lost, and goes on
 * where it was: runs are resumed, what was asked or stopped in vain is sent again.
 */

/** @import { Frame } from "./types.d.ts" */
/**
 * @typedef {object} Asking where a question is asked, and of whom; nothing has to be said
 * @property {string} [id] of the question: the same one twice asks once
 * @property {string} [conversation] to go on with
 * @property {string} [assistant] its name
 * @property {string[]} [collections] the names of those that are searched
 * @property {string} [model]
 * @property {object} [settings] of the search
 * @property {object} [generation] how the answer is written
 */
/** @typedef {{ seq: number, ended: boolean, stopping: boolean }} Followed */
/** @typedef {{ message: object, sent: boolean, stopping: boolean }} Asked */
/** @typedef {{ code: number, again: boolean }} Closed whether it is going to be opened again */
/**
 * @callback Handler
 * @param {any} event a frame; of `open` nothing, of `close` what is in `Closed`
 * @returns {void}
 */

const NOT_SIGNED_IN = 4401;
const TOKEN_PROTOCOL = "ragsite.bearer";
// However long it was away, it is back before its answer is given up (RUN_GRACE_SECONDS).
const LONGEST_WAIT_MS = 5000;
// What the server could not do for now is asked for again after this long, then twice as long.
const AGAIN_MS = [1000, 30_000];
const ACK_MS = 1000;
// A handshake that takes longer is begun anew.
const HANDSHAKE_MS = 10_000;
// A connection on which nothing has come for this long is asked whether it lives: sooner while
// something is waited for. It is another one if nothing comes then either.
const QUIET_MS = 5000;
const IDLE_MS = 30_000;
const PONG_MS = 5000;

/** Asks, follows what is answered, and stops it. */
export class FrameClient {
  /**
   * @param {string | URL} base the address of the site
   * @param {string} token of a program; pages of the site have their session
   */
  constructor(base = location.origin, token = "") {
    this.address = new URL("/ws/chat/", base).href.replace(/^http/, "ws");
    this.protocols = token ? [TOKEN_PROTOCOL, token] : [];
    /** @type {Map<string, Set<Handler>>} */
    this.handlers = new Map();
    /** @type {Map<string, Asked>} what has not become a run yet, by the question's id */
    this.asked = new Map();
    /** @type {Map<string, Followed>} */
    this.runs = new Map();
    /** @type {Set<string>} places from which frames have been asked for */
    this.resumed = new Set();
    /** @type {string | null} */
    this.watched = null;
    this.watching = false;
    this.open = false;
    this.tries = 0;
    this.patience = AGAIN_MS[0];
    /** @type {{ run: string, seq: number } | null} what has been taken in, and not been said yet */
    this.taken = null;
    /** @type {{ [name: string]: ReturnType<typeof setTimeout> | undefined }} */
    this.timers = {};
    /** @type {WebSocket | null} */
    this.socket = null;
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    // A network that has gone or come back is another one, where an old connection is dead.
    for (const change of ["offline", "online"]) {
      globalThis.addEventListener?.(change, () => this.comeBack(true), { signal });
    }
    globalThis.document?.addEventListener("visibilitychange", () => this.seen(), { signal });
    this.connect();
  }

  /**
   * Have `handler` called with each frame of a type; with every one for `frame`. A question that is
   * refused is an `error` whose `run` is null. `open` and `close` tell of the connection.
   * @param {Frame["type"] | "frame" | "open" | "close"} type
   * @param {Handler} handler
   * @returns {() => void} ends that
   */
  on(type, handler) {
    const handlers = this.handlers.get(type) ?? new Set();
    this.handlers.set(type, handlers.add(handler));
    return () => handlers.delete(handler);
  }

  /**
   * Ask; the first frame of the run, a `status`, has the question's id as its `ask`.
   * @param {string} text
   * @param {Asking} asking
   * @returns {string} the question's id
   */
  ask(text, { id = randomId(), ...asking } = {}) {
    const message = { type: "ask", id, text, ...asking };
    this.asked.set(id, { message, sent: this.open, stopping: false });
    this.send(message);
    this.listen();
    return id;
  }

  /**
   * Stop a run, or what is going to be one; its `done` comes soon.
   * @param {{ run?: string, ask?: string }} which its id, or its question's
   * @returns {boolean} whether it comes: a question that was never sent is only forgotten
   */
  stop({ run, ask }) {
    const asked = run ? undefined : this.asked.get(ask ?? "");
    if (asked && !asked.sent) return !this.asked.delete(ask ?? "");
    const stopped = run ? this.runs.get(run) : asked;
    if (stopped) stopped.stopping = true;
    this.send({ type: "stop", ...(run ? { run } : { ask }) });
    return true;
  }

  /**
   * Follow a run.
   * @param {string} run
   * @param {number} after number of the last frame that is known
   */
  resume(run, after = 0) {
    this.runs.set(run, { seq: after, ended: false, stopping: false });
    this.resumeOnce(run, after);
    this.listen();
  }

  /**
   * Follow whatever is asked in a conversation, by whomever.
   * @param {string} conversation
   */
  watch(conversation) {
    if (conversation !== this.watched) this.watching = false;
    this.watched = conversation;
    this.sendWatch();
  }

  /**
   * Say what is being typed, so that the search for it can begin.
   * @param {string} text
   * @param {Omit<Asking, "id" | "model" | "generation">} asking
   */
  prefetch(text, asking = {}) {
    this.send({ type: "prefetch", text, ...asking });
  }

  /** Leave: nothing more comes, and nothing is opened again. */
  close() {
    this.leaving.abort();
    Object.values(this.timers).forEach(clearTimeout);
    this.socket?.close();
    this.socket = null;
    this.open = false;
  }

  /** @param {object} message what is not sent now and matters is sent when the socket opens */
  send(message) {
    if (this.open) this.socket?.send(JSON.stringify(message));
  }

  /**
   * @param {string} type
   * @param {unknown} event
   */
  tell(type, event) {
    for (const handler of this.handlers.get(type) ?? []) handler(event);
  }

  connect() {
    clearTimeout(this.timers.connect);
    clearTimeout(this.timers.handshake);
    this.timers.connect = undefined;
    const socket = new WebSocket(this.address, this.protocols);
    const old = this.socket;
    this.socket = socket;
    old?.close();
    // What an old one still says counts no more.
    const current = () => socket === this.socket;
    socket.onopen = () => current() && this.opened();
    socket.onmessage = ({ data }) => current() && this.receive(JSON.parse(data));
    socket.onclose = ({ code }) => current() && this.closed(code);
    this.timers.handshake = setTimeout(() => {
      this.socket = null;
      socket.close();
      this.closed(0);
    }, HANDSHAKE_MS);
  }

  opened() {
    clearTimeout(this.timers.handshake);
    this.open = true;
    this.tries = 0;
    this.tell("open", undefined);
    this.rejoin();
    this.listen();
  }

  /** Something came, or is waited for: ask whether the connection lives if nothing more comes. */
  listen() {
    clearTimeout(this.timers.quiet);
    clearTimeout(this.timers.pong);
    this.timers.quiet = setTimeout(() => this.ping(), this.following ? QUIET_MS : IDLE_MS);
  }

  /** Ask whether the connection lives; nobody looks at a page that is hidden. */
  ping() {
    if (!this.open || globalThis.document?.hidden) return;
    this.send({ type: "ping" });
    clearTimeout(this.timers.pong);
    this.timers.pong = setTimeout(() => this.comeBack(true), PONG_MS);
  }

  /** The page is looked at again, or no more. */
  seen() {
    if (document.hidden) return;
    if (this.open) this.ping();
    else this.comeBack(false);
  }

  /** @param {number} code */
  closed(code) {
    clearTimeout(this.timers.handshake);
    clearTimeout(this.timers.pong);
    this.open = false;
    const again = code !== NOT_SIGNED_IN;
    if (again) {
      this.timers.connect = setTimeout(() => this.connect(), reconnectDelay(this.tries));
      this.tries += 1;
    }
    this.tell("close", { code, again });
  }

  /**
   * Connect at once, instead of when it is time.
   * @param {boolean} anew also if a connection seems to be open, or about to be
   */
  comeBack(anew) {
    if (!anew && (this.open || !this.timers.connect)) return;
    const lost = this.open;
    this.open = false;
    if (lost) this.tell("close", { code: 0, again: true });
    this.tries = 0;
    this.connect();
  }

  /** Go on where it was. */
  rejoin() {
    this.watching = false;
    this.resumed.clear();
    for (const [run, { seq, ended }] of this.runs) if (!ended) this.resumeOnce(run, seq);
    this.sendWatch();
    for (const asked of this.asked.values()) {
      asked.sent = true;
      this.send(asked.message);
    }
    for (const [run, { stopping }] of this.runs) if (stopping) this.send({ type: "stop", run });
    for (const [ask, { stopping }] of this.asked) if (stopping) this.send({ type: "stop", ask });
  }

  /** The server could not do what was asked for, because the database was away, say. */
  rejoinLater() {
    if (this.timers.rejoin) return;
    this.timers.rejoin = setTimeout(() => {
      this.timers.rejoin = undefined;
      if (this.open) this.rejoin();
    }, this.patience);
    this.patience = Math.min(2 * this.patience, AGAIN_MS[1]);
  }

  /** Whether a run is followed, or one is waited for. */
  get following() {
    return this.asked.size > 0 || [...this.runs.values()].some(({ ended }) => !ended);
  }

  /** What is followed needs no watching: the server would tell of it twice. */
  sendWatch() {
    const following = [...this.runs.values()].some(({ ended }) => !ended);
    if (!this.watched || this.watching || following || !this.open) return;
    this.watching = true;
    this.send({ type: "watch", conversation: this.watched });
  }

  /**
   * Ask for the frames of a run behind number `after`, once.
   * @param {string} run
   * @param {number} after
   */
  resumeOnce(run, after) {
    const place = `${run}/${after}`;
    if (!this.open || this.resumed.has(place)) return;
    this.resumed.add(place);
    this.send({ type: "resume", run, after });
  }

  /** @param {Frame} frame */
  receive(frame) {
    this.listen();
    if (frame.type === "pong") return;
    if (frame.run === null) this.refused(frame);
    else if (this.isNext(frame.run, frame)) this.take(frame.run, frame);
  }

  /**
   * Say whether a frame is to be handed on; ask for those before it if they are missing.
   * @param {string} run
   * @param {Frame} frame
   */
  isNext(run, frame) {
    const seq = this.runs.get(run)?.seq ?? 0;
    if (frame.seq === seq + 1 || (frame.type === "snapshot" && this.runs.has(run))) return true;
    if (frame.seq > seq) this.resumeOnce(run, seq);
    return false;
  }

  /**
   * @param {string} run
   * @param {Frame} frame the next one
   */
  take(run, frame) {
    const ask = (frame.type === "status" && frame.ask) || "";
    const known = this.runs.get(run);
    const ended = frame.type === "done" || frame.type === "error";
    const stopping = known?.stopping ?? this.asked.get(ask)?.stopping ?? false;
    this.asked.delete(ask);
    this.runs.set(run, { seq: frame.seq, ended, stopping: stopping && !ended });
    this.resumed.delete(`${run}/${known?.seq ?? 0}`);
    this.patience = AGAIN_MS[0];
    this.tell(frame.type, frame);
    this.tell("frame", frame);
    this.acknowledge(run, frame.seq);
    if (ended) this.sendWatch();
  }

  /** @param {Frame} error of a request */
  refused(error) {
    if (error.type !== "error") return;
    if (error.ask) this.asked.delete(error.ask);
    else if (error.recoverable) this.rejoinLater();
    this.tell("error", error);
    this.tell("frame", error);
  }

  /**
   * Say what has been taken in, at most once a second: when too much is on the way, the server waits.
   * @param {string} run
   * @param {number} seq
   */
  acknowledge(run, seq) {
    const due = this.taken === null;
    this.taken = { run, seq };
    if (!due) return;
    this.timers.ack = setTimeout(() => {
      this.send({ type: "ack", ...this.taken });
      this.taken = null;
    }, ACK_MS);
  }
}

/**
 * Return the milliseconds to wait, at random: a server that restarts is not stormed.
 * @param {number} tries how often it was tried in vain
 */
function reconnectDelay(tries) {
  return Math.random() * Math.min(1000 * 2 ** tries, LONGEST_WAIT_MS);
}

/**
 * Make a UUID (version 4), also where the page came by plain HTTP: crypto.randomUUID is not there
 * then.
 */
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
