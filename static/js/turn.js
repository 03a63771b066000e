/**
 * One answer on the page: its run's frames, its state, its text.
 */

/** @import { AnswerState, CitationData, Frame, Source } from "./types.d.ts" */

import { AnswerText } from "./answer.js";
import { fill, gettext, ngettext } from "./translation.js";
import { Waiting } from "./waiting.js";
import { offerWay } from "./ways.js";

/** @type {AnswerState[]} */
const ACTIVE = ["searching", "streaming"];

/** Takes a run's frames in order and shows them in an `.answer` element. */
export class Turn {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.text = new AnswerText(part(element, ".prose"));
    this.waiting = new Waiting((words) => this.showStatus(words));
    this.stopping = false;
  }

  /**
   * Take over an answer that the server rendered as plain text.
   * @param {HTMLElement} element
   */
  static adopt(element) {
    const data = element.querySelector("script[type='application/json']");
    const turn = new Turn(element);
    if (turn.active) return turn;
    turn.text.adopt(JSON.parse(data?.textContent || "[]"));
    return turn;
  }

  get run() {
    return this.element.dataset.run ?? null;
  }

  get state() {
    return /** @type {AnswerState} */ (this.element.dataset.state);
  }

  get active() {
    return ACTIVE.includes(this.state);
  }

  /** @returns {CitationData[]} */
  get citations() {
    return this.text.citations;
  }

  /**
   * Say what is waited for: what the server has not said is not known.
   * @param {boolean} connected
   */
  wait(connected) {
    this.waiting.over();
    if (this.stopping) {
      const later = gettext("Stops as soon as the connection is back…");
      this.showStatus(connected ? gettext("Stopping…") : later);
    } else if (!this.run) {
      this.showStatus(connected ? gettext("Sending…") : gettext("Waiting for the connection…"));
      this.waiting.stage(connected ? "sending" : "connecting");
    } else if (connected && this.state === "searching") {
      this.waiting.again();
    }
  }

  /** @param {Frame} frame the next one */
  receive(frame) {
    switch (frame.type) {
      case "status":
        if (frame.answer) this.name(frame.answer);
        this.showStatus(frame.message);
        this.waiting.stage(frame.stage);
        break;
      case "search_results":
        this.showStatus(found(frame.results));
        break;
      case "thinking":
        this.showStatus(gettext("Thinking…"));
        this.waiting.over();
        break;
      case "warning":
        this.showStatus(frame.message);
        break;
      case "token":
        this.text.append(frame.text);
        this.startStreaming();
        break;
      case "citation":
        this.text.cite(frame);
        break;
      case "grounding":
        this.text.support(frame.citations);
        break;
      case "snapshot":
        this.text.replace(frame.text, frame.citations);
        this.text.draw();
        this.setState("streaming");
        break;
      case "done":
        if (frame.answer !== this.text.text) this.text.replace(frame.answer, frame.citations);
        this.end(ended(frame.finish_reason));
        break;
      case "error":
        this.fail(frame);
        break;
    }
  }

  /** @param {string} message the id under which the answer is stored: links lead to it */
  name(message) {
    this.element.dataset.message = message;
    this.element.id = `message-${message}`;
  }

  /** @param {{ code: string, message: string, run: string | null }} error */
  fail({ code, message, run }) {
    this.end(code === "interrupted" ? "interrupted" : "failed");
    const notice = this.element.querySelector("[data-notice='failed']");
    if (!notice) return;
    part(notice, ".notice-text").textContent = message;
    part(notice, ".notice-code").textContent = run ? `${code} · ${run}` : code;
    offerWay(notice, code);
  }

  /** @param {AnswerState} state */
  end(state) {
    this.text.finish();
    this.setState(state);
    const template = document.querySelector(`template[data-notice-for="${state}"]`);
    if (!(template instanceof HTMLTemplateElement)) return;
    part(this.element, ".prose").after(template.content.cloneNode(true));
  }

  /** @param {string} message */
  showStatus(message) {
    const line = part(this.element, ".status-text");
    if (message && line.textContent !== message) line.textContent = message;
  }

  /** The status line goes in the frame in which the first words are drawn. */
  startStreaming() {
    if (this.state !== "streaming") this.setState("streaming");
  }

  /** @param {AnswerState} state */
  setState(state) {
    this.waiting.over();
    this.element.dataset.state = state;
  }
}

/**
 * @param {Element} root
 * @param {string} selector
 */
function part(root, selector) {
  return /** @type {HTMLElement} */ (root.querySelector(selector));
}

/**
 * @param {string} reason
 * @returns {AnswerState}
 */
function ended(reason) {
  if (reason === "no_answer" || reason === "length" || reason === "cancelled") return reason;
  return "done";
}

/** @param {Source[]} results */
function found(results) {
  const used = results.filter((source) => source.index !== null);
  const passages = new Set(used.map((source) => source.index)).size;
  const documents = new Set(used.map((source) => source.document_id)).size;
  if (!used.length) return "";
  return fill(gettext("%(passages)s in %(documents)s"), {
    passages: fill(ngettext("%(count)s passage", "%(count)s passages", passages), { count: passages }),
    documents: fill(ngettext("%(count)s document", "%(count)s documents", documents), {
      count: documents,
    }),
  });
}
