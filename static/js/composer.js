/**
 * The form at the bottom: writing, sending, and the stop button in the place of send.
 */

import { randomId } from "./identity.js";

// A second click of a double click on Send must not stop what it just asked.
const STOP_DELAY_MS = 400;
// What is typed is searched for ahead when the typing pauses, once it can be a question.
const PAUSE_MS = 300;
const SHORTEST_QUESTION = 8;
// Timers of browsers count in 31 bits.
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * @typedef {object} Actions
 * @property {(text: string, id: string) => void} onAsk
 * @property {() => void} onStop
 * @property {(text: string) => void} onPause
 * @property {() => string | null} conversation
 */

/** The question form; `setBusy` switches between asking and stopping. */
export class Composer {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    this.input = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("text"));
    this.send = /** @type {HTMLButtonElement} */ (form.querySelector(".send"));
    this.halt = /** @type {HTMLButtonElement} */ (form.querySelector(".stop"));
    this.refusal = /** @type {HTMLElement} */ (document.getElementById("composer-refusal"));
    this.untilAgain = 0;
    this.sentAt = -Infinity;
    this.busy = false;
    this.pause = 0;
    this.input.addEventListener("input", () => this.fit());
    this.input.addEventListener("keydown", (event) => {
      const plain = event.key === "Enter" && !event.shiftKey && !event.isComposing;
      if (!plain) return;
      event.preventDefault();
      form.requestSubmit();
    });
    this.fit();
  }

  /** @param {Actions} actions */
  connect({ onAsk, onStop, onPause, conversation }) {
    this.input.addEventListener("input", () => {
      clearTimeout(this.pause);
      const text = this.input.value.trim();
      if (text.length >= SHORTEST_QUESTION) this.pause = setTimeout(onPause, PAUSE_MS, text);
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("htmx:wsConfigSend", (event) => {
      const { detail } = /** @type {CustomEvent} */ (event);
      const text = this.input.value.trim();
      if (!text || this.busy) return event.preventDefault();
      const id = randomId();
      const current = conversation();
      detail.headers = null;
      detail.parameters = { type: "ask", id, text, ...(current && { conversation: current }) };
      this.input.value = "";
      clearTimeout(this.pause);
      this.fit();
      onAsk(text, id);
    });
    this.halt.addEventListener("click", () => {
      if (performance.now() - this.sentAt >= STOP_DELAY_MS) onStop();
    });
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    if (busy === this.busy) return;
    this.busy = busy;
    this.input.disabled = busy;
    this.send.hidden = busy;
    this.halt.hidden = !busy;
    this.halt.disabled = false;
    this.fit();
    const idle = !document.activeElement || document.activeElement === document.body;
    // A touch keyboard would cover the answer that has just come.
    if (!busy && idle && matchMedia("(pointer: fine)").matches) this.input.focus();
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
    const typed = this.input.value.trim();
    this.input.value = typed ? `${text}\n${typed}` : text;
    this.fit();
    this.input.focus();
    this.refusal.textContent = message;
    this.refusal.hidden = false;
    clearTimeout(this.untilAgain);
    if (!wait || wait > LONGEST_TIMER_MS) return;
    this.untilAgain = setTimeout(() => (this.refusal.hidden = true), wait);
  }

  stopping() {
    this.halt.disabled = true;
  }

  /** Grow with the text; its largest height is the style sheet's matter. */
  fit() {
    this.send.disabled = !this.input.value.trim();
    if (CSS.supports("field-sizing", "content")) return;
    this.input.style.blockSize = "auto";
    this.input.style.blockSize = `${this.input.scrollHeight}px`;
  }
}
