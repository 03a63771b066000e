/**
 * The conversation on the page: asks, follows runs, stops them, keeps the page's state.
 */

/** @import { Frame } from "./types.d.ts" */
/** @import { Choice } from "./choice.js" */
/** @import { Composer } from "./composer.js" */
/** @import { Kept } from "./kept.js" */

import { showConnection } from "./connection.js";
import { whenDeleted } from "./deleting.js";
import { FrameClient } from "./frames.js";
import { questionOf } from "./questions.js";
import { Thread } from "./thread.js";
import { gettext } from "./translation.js";
import { Turn } from "./turn.js";
import { wayOn } from "./ways.js";

// The person has used up what they may: the question goes back to where it was written.
const USED_UP = ["rate_limited", "too_many_runs", "quota_exceeded"];
// What was chosen is no longer there for this person.
const NOT_THERE = ["unknown_assistant", "unknown_collection"];

/** Holds the page's turns; `root` carries the state and the addresses. */
export class Conversation {
  /**
   * @param {HTMLElement} root
   * @param {Composer} composer
   * @param {Choice} choice
   * @param {Kept} kept
   */
  constructor(root, composer, choice, kept) {
    this.root = root;
    this.composer = composer;
    this.choice = choice;
    this.kept = kept;
    const thread = /** @type {HTMLElement} */ (root.querySelector("#thread"));
    this.thread = new Thread(thread, (path) => this.url(path));
    /** @type {Map<string, Turn>} asks that have not become runs yet */
    this.asked = new Map();
    /** @type {Map<string, Turn>} */
    this.runs = new Map();
    /** @type {WeakMap<Element, Turn>} */
    this.turns = new WeakMap();
    this.deleted = false;
    /** @type {Turn[]} answers that ended while the conversation was being deleted */
    this.unseen = [];
    this.client = new FrameClient();
    this.client.on("frame", (frame) => this.receive(frame));
    for (const type of /** @type {const} */ (["open", "close"])) this.client.on(type, () => this.wait());
    showConnection(root, this.client, () => this.keepAsked());
    if (this.id) this.client.watch(this.id);
    for (const element of thread.querySelectorAll(".answer")) {
      this.adopt(/** @type {HTMLElement} */ (element));
    }
    whenDeleted(() => this.id, (deleted) => this.leaves(deleted));
    this.showState(this.active?.state ?? "idle");
  }

  get id() {
    return this.root.dataset.conversation || null;
  }

  get active() {
    return [...this.asked.values(), ...this.runs.values()].find((turn) => turn.active) ?? null;
  }

  /** @param {string} path below the chat's own address */
  url(path) {
    return `${this.root.dataset.base}${path}`;
  }

  /** @param {boolean} deleted whether it is being deleted, or could not be */
  leaves(deleted) {
    this.deleted = deleted;
    if (!deleted) for (const turn of this.unseen.splice(0)) this.ended(turn);
  }

  /** @param {HTMLElement} element */
  adopt(element) {
    const turn = Turn.adopt(element);
    this.turns.set(element, turn);
    if (!turn.run) return;
    this.runs.set(turn.run, turn);
    if (turn.active) this.client.resume(turn.run);
  }

  /** @param {string} text */
  ask(text) {
    if (this.active) return;
    const id = this.client.ask(text, this.asking);
    this.begin(text, id);
  }

  /**
   * Show a question and its answer to be.
   * @param {string} text
   * @param {string} id the question's
   */
  begin(text, id) {
    this.root.toggleAttribute("data-new", false);
    this.thread.question(text);
    const turn = this.answer(this.choice.assistant?.value);
    turn.element.dataset.askId = id;
    turn.element.dataset.question = text;
    this.asked.set(id, turn);
    turn.wait(this.client.open);
    this.composer.sent();
    this.showState("searching");
    this.thread.element.dispatchEvent(new CustomEvent("thread:asked", { bubbles: true }));
  }

  /** Where something is asked, and of whom. */
  get asking() {
    return { ...(this.id && { conversation: this.id }), ...this.choice.chosen };
  }

  /** @param {Element} element something in the answer whose question is to be asked again */
  askAgain(element) {
    this.ask(questionOf(element));
  }

  /**
   * Ask for the rest of an answer that was broken off: a question like any other, which has the
   * earlier text before it.
   * @param {Element} element something in the answer
   * @param {string} word what such a question begins with
   */
  continueAfter(element, word) {
    const question = questionOf(element);
    this.ask(question.startsWith(word) ? question : `${word} ${question}`);
  }

  /** @param {Element} element something in the question that is to be changed, or in its answer */
  edit(element) {
    this.composer.change(questionOf(element));
  }

  /** @param {Element} element something in the answer whose question is for a new conversation */
  takeAlong(element) {
    this.kept.set("draft", null, questionOf(element));
  }

  /** @param {Element} element something in an answer */
  turnOf(element) {
    const answer = element.closest(".answer");
    return answer ? this.turns.get(answer) : undefined;
  }

  /** @param {string} text what is being typed */
  lookAhead(text) {
    if (!this.active) this.client.prefetch(text, this.asking);
  }

  stop() {
    const turn = this.active;
    if (!turn) return;
    const ask = turn.element.dataset.askId;
    if (this.client.stop({ run: turn.run ?? undefined, ask })) {
      this.composer.stopping();
      turn.stopping = true;
      turn.wait(this.client.open);
    } else {
      this.forget(ask ?? null);
      this.takeOff(turn);
      this.composer.write(turn.element.dataset.question ?? "");
    }
  }

  /** Say of what is not answered yet what it waits for. */
  wait() {
    for (const turn of [...this.asked.values(), ...this.runs.values()]) {
      if (turn.active) turn.wait(this.client.open);
    }
  }

  /** @param {Frame} frame */
  receive(frame) {
    if (frame.run === null) {
      if (frame.type === "error") this.refused(frame);
      return;
    }
    const turn = this.runs.get(frame.run) ?? this.join(frame.run, frame);
    if (!turn) return;
    const before = turn.state;
    turn.receive(frame);
    if (turn.state !== before || frame.seq === 1) this.showState(turn.state);
    if (frame.seq === 1) this.announce(gettext("Answering"));
    if (frame.type === "done" || frame.type === "error") this.ended(turn);
  }

  /**
   * Find or make the turn of a run that this page has not seen before.
   * @param {string} run
   * @param {Frame} frame
   */
  join(run, frame) {
    if (frame.type !== "status" || frame.seq !== 1) return null;
    let turn = this.forget(frame.ask);
    if (turn) {
      const before = this.id;
      if (!before && frame.conversation) this.created(frame.conversation);
      this.composer.taken(before);
    } else {
      // Asked on another page.
      if (!this.id || frame.conversation !== this.id) return null;
      this.thread.storedQuestion(frame.question);
      turn = this.answer();
      // Of another assistant, perhaps.
      const name = /** @type {HTMLElement} */ (turn.element.querySelector(".answer-name"));
      this.thread.load(name, frame.answer, ".answer-name");
    }
    turn.element.dataset.run = run;
    this.runs.set(run, turn);
    return turn;
  }

  /** @param {Extract<Frame, { type: "error" }>} error */
  refused(error) {
    const turn = this.forget(error.ask);
    if (!turn) return;
    if (NOT_THERE.includes(error.code)) this.choice.chosen = {};
    if (USED_UP.includes(error.code) || wayOn(error.code) === "edit") {
      this.giveBack(turn, error);
      return;
    }
    turn.receive({ ...error, seq: 0 });
    this.ended(turn);
  }

  /**
   * Return the turn of a question that is no longer only asked.
   * @param {string | null} ask its id
   */
  forget(ask) {
    const turn = this.asked.get(ask ?? "");
    this.asked.delete(ask ?? "");
    return turn;
  }

  /** Keep what was asked in vain, as drafts for when the person is back. */
  keepAsked() {
    for (const { element } of this.asked.values()) {
      this.composer.write(element.dataset.question ?? "");
    }
  }

  /**
   * Take a question that was not let in off the page, and put it back into the composer.
   * @param {Turn} turn
   * @param {Extract<Frame, { type: "error" }>} error
   */
  giveBack(turn, error) {
    this.takeOff(turn);
    this.composer.giveBack(turn.element.dataset.question ?? "", error);
  }

  /** @param {Turn} turn whose question was not let in */
  takeOff(turn) {
    turn.waiting.over();
    turn.element.previousElementSibling?.remove();
    turn.element.remove();
    this.root.toggleAttribute("data-new", !this.id && !this.thread.element.childElementCount);
    this.showState(this.active?.state ?? "idle");
  }

  /** @param {Turn} turn */
  ended(turn) {
    if (this.deleted) {
      this.unseen.push(turn);
      return;
    }
    this.showState(turn.state);
    this.announce(turn.state === "failed" ? gettext("The answer failed") : gettext("Answer complete"));
    const { message } = turn.element.dataset;
    const foot = turn.element.querySelector(".answer-foot");
    if (message && foot) this.thread.load(foot, message, ".answer-foot");
  }

  /** @param {string} id */
  created(id) {
    this.root.dataset.conversation = id;
    this.choice.began();
    this.kept.set("choice", null, "");
    this.choice.keep(this.kept, id);
    const address = this.url(`c/${id}/`);
    history.pushState({}, "", address);
    this.client.watch(id);
    this.root.dispatchEvent(new CustomEvent("conversation:created", { bubbles: true }));
  }

  /**
   * @param {string} message an answer's id
   * @returns {Promise<string>} how the server shows it; empty if it cannot now
   */
  async stored(message) {
    if (!this.client.open || this.deleted) return "";
    return fetch(this.url(`messages/${message}/`)).then((response) => response.text(), () => "");
  }

  /** @param {string} [name] of the assistant that answers; the conversation's if it is not said */
  answer(name) {
    const turn = new Turn(this.thread.answer(name));
    this.turns.set(turn.element, turn);
    return turn;
  }

  /** @param {string} state */
  showState(state) {
    const { active } = this;
    this.root.dataset.state = state;
    // Of a question that the server does not have, no answer is on its way.
    this.root.toggleAttribute("data-accepted", Boolean(active?.run));
    this.composer.setBusy(active !== null);
  }

  /** @param {string} message */
  announce(message) {
    const live = document.getElementById("live");
    if (live) live.textContent = message;
  }
}
