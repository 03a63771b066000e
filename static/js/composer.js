/**
 * The form at the bottom: writing, sending, and the stop button in the place of send.
 */

/** @import { Kept } from "./kept.js" */

// A second click of a double click on Send must not stop what it just asked.
const STOP_DELAY_MS = 400;
// What is typed is searched for ahead when the typing pauses, once it can be a question.
const PAUSE_MS = 300;
const SHORTEST_QUESTION = 8;
// In characters as the server counts them; how many there are is said when it becomes tight.
const LONGEST_QUESTION = 20_000;
const COUNTED_FROM = 18_000;
// Timers of browsers count in 31 bits.
const LONGEST_TIMER_MS = 2 ** 31 - 1;
// Some browsers tell only by this code that Enter ends a word that is being composed.
const COMPOSING_KEY = 229;

/**
 * @typedef {object} Actions
 * @property {(text: string) => void} onAsk
 * @property {() => void} onStop
 * @property {(text: string) => void} onPause
 * @property {() => string | null} conversation
 */

/**
 * The question form; `setBusy` switches between asking and stopping. The next question can be
 * written while an answer comes; it is sent only when that has ended.
 */
export class Composer {
  /**
   * @param {HTMLFormElement} form
   * @param {Kept} kept
   */
  constructor(form, kept) {
    this.form = form;
    this.kept = kept;
    this.input = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("text"));
    this.send = /** @type {HTMLButtonElement} */ (form.querySelector(".send"));
    this.halt = /** @type {HTMLButtonElement} */ (form.querySelector(".stop"));
    this.count = /** @type {HTMLElement} */ (form.querySelector(".composer-count"));
    this.refusal = /** @type {HTMLElement} */ (document.getElementById("composer-refusal"));
    this.changing = /** @type {HTMLElement} */ (document.getElementById("composer-changing"));
    /** @type {string | null} what was being written when an earlier question took its place */
    this.aside = null;
    this.untilAgain = 0;
    this.sentAt = -Infinity;
    this.busy = false;
    this.pause = 0;
    /** @type {() => string | null} */
    this.conversation = () => null;
    // The browser would cut what is pasted without a word.
    this.input.removeAttribute("maxlength");
    this.input.addEventListener("input", () => this.fit());
    this.input.addEventListener("keydown", (event) => {
      const composing = event.isComposing || event.keyCode === COMPOSING_KEY;
      if (event.key !== "Enter" || event.shiftKey || composing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    this.fit();
  }

  /** @param {Actions} actions */
  connect({ onAsk, onStop, onPause, conversation }) {
    this.conversation = conversation;
    this.input.value ||= this.kept.get("draft", conversation());
    this.fit();
    this.input.addEventListener("input", () => {
      this.keep();
      clearTimeout(this.pause);
      const text = this.input.value.trim();
      const fits = text.length >= SHORTEST_QUESTION && text.length <= LONGEST_QUESTION;
      if (fits) this.pause = setTimeout(onPause, PAUSE_MS, text);
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = this.input.value.trim();
      if (!text || this.busy || this.refuseLong(text)) return;
      onAsk(text);
      // The draft stays until the server has the question.
      clearTimeout(this.pause);
      this.takeBack();
    });
    this.changing.querySelector("button")?.addEventListener("click", () => this.leave());
    this.halt.addEventListener("click", () => {
      if (performance.now() - this.sentAt >= STOP_DELAY_MS) onStop();
    });
  }

  /** The page can ask now: send what was sent before it could (early.js). */
  ready() {
    const held = this.form.hasAttribute("data-held");
    this.form.removeAttribute("data-held");
    this.form.setAttribute("data-ready", "");
    /** @type {HTMLElement} */ (document.getElementById("composer-held")).hidden = true;
    this.keep();
    if (held) this.form.requestSubmit();
  }

  /** Keep what is written for this conversation. */
  keep() {
    const text = this.aside || this.input.value;
    this.kept.set("draft", this.conversation(), text.trim() && text);
  }

  /**
   * The server has the question: the draft is what has been written since.
   * @param {string | null} conversation where it was asked, null for what was a new one
   */
  taken(conversation) {
    this.kept.set("draft", conversation, "");
    this.keep();
  }

  /**
   * Put an earlier question into the field, to be asked again changed; what was being written waits
   * until that is done.
   * @param {string} text
   */
  change(text) {
    this.aside ??= this.input.value;
    this.changing.hidden = false;
    this.input.value = text;
    this.fit();
    this.keep();
    this.input.focus();
  }

  /** @returns {boolean} whether a question was being changed; what was written before is back */
  leave() {
    if (this.aside === null) return false;
    this.takeBack();
    this.keep();
    this.input.focus();
    return true;
  }

  /** Put back what was set aside, if anything was. */
  takeBack() {
    this.input.value = this.aside ?? "";
    this.aside = null;
    this.changing.hidden = true;
    this.fit();
  }

  /**
   * Put back a question that could not be asked, before what has been written since.
   * @param {string} text
   */
  write(text) {
    const typed = this.input.value.trim();
    this.input.value = typed && typed !== text ? `${text}\n${typed}` : text;
    this.fit();
    this.keep();
    this.input.focus();
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    if (busy === this.busy) return;
    this.busy = busy;
    // The button that had the focus goes.
    const gone = busy ? this.send : this.halt;
    const idle = [null, document.body, gone].includes(/** @type {HTMLElement} */ (document.activeElement));
    this.send.hidden = busy;
    this.halt.hidden = !busy;
    this.halt.disabled = false;
    this.fit();
    if (matchMedia("(pointer: fine)").matches) {
      if (idle) this.input.focus({ preventScroll: true });
    } else if (busy) {
      // A touch keyboard would cover the answer.
      this.input.blur();
    }
  }

  sent() {
    this.sentAt = performance.now();
    this.refusal.hidden = true;
  }

  /**
   * Put back a question that was refused for now, and say why until it may be asked again.
   * @param {string} text
   * @param {{ message: string, retry_in_ms: number }} refusal
   */
  giveBack(text, { message, retry_in_ms: wait }) {
    this.write(text);
    this.refuse(message);
    if (!wait || wait > LONGEST_TIMER_MS) return;
    this.untilAgain = setTimeout(() => (this.refusal.hidden = true), wait);
  }

  /**
   * @param {string} text
   * @returns {boolean} whether it is too long, which is said then
   */
  refuseLong(text) {
    const over = length(text) - LONGEST_QUESTION;
    if (over > 0) this.refuse((this.count.dataset.over ?? "").replace("{n}", over.toLocaleString()));
    return over > 0;
  }

  /** @param {string} message */
  refuse(message) {
    clearTimeout(this.untilAgain);
    this.refusal.textContent = message;
    this.refusal.hidden = false;
  }

  stopping() {
    this.halt.disabled = true;
  }

  /** Grow with the text; its largest height is the style sheet's matter. */
  fit() {
    const text = this.input.value.trim();
    this.send.disabled = !text;
    const count = text.length < COUNTED_FROM ? 0 : length(text);
    this.count.hidden = count < COUNTED_FROM;
    const most = LONGEST_QUESTION.toLocaleString();
    this.count.textContent = this.count.hidden ? "" : `${count.toLocaleString()} / ${most}`;
    this.count.toggleAttribute("data-over-limit", count > LONGEST_QUESTION);
    if (CSS.supports("field-sizing", "content")) return;
    this.input.style.blockSize = "auto";
    this.input.style.blockSize = `${this.input.scrollHeight}px`;
  }
}

/**
 * Count characters as the server does: one outside of the basic plane is one, not two.
 * @param {string} text
 */
function length(text) {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
