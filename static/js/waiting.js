/**
 * Says what an answer is waiting for, when that takes long.
 */

import { gettext } from "./translation.js";

const LONG_MS = 5000;
const LONGER_MS = 15_000;

/** @type {Record<string, [string, string]>} by stage: after a while, and after a longer one */
const WORDS = {
  sending: [
    gettext("The server has not answered yet…"),
    gettext("Still no word from the server; your question is kept…"),
  ],
  connecting: [
    gettext("Still waiting for the connection…"),
    gettext("Still no connection; your question is sent as soon as it is back…"),
  ],
  queued: [gettext("Waiting for the answer before this one…"), gettext("Still waiting for its turn…")],
  rewriting: [
    gettext("Still working out what to search for…"),
    gettext("The model is slow to say what to search for…"),
  ],
  searching: [gettext("Still searching…"), gettext("The search takes longer than usual…")],
  reranking: [gettext("Still ranking what was found…"), gettext("Ranking takes longer than usual…")],
  generating: [
    gettext("Waiting for the model’s first words…"),
    gettext("The model is busy: still waiting for its first words…"),
  ],
};

/** One answer's wait; `stage` whenever it goes on, `over` when words have come. */
export class Waiting {
  /** @param {(words: string) => void} say */
  constructor(say) {
    this.say = say;
    /** @type {ReturnType<typeof setTimeout>[]} */
    this.timers = [];
    this.name = "";
  }

  /** @param {string} name */
  stage(name) {
    this.over();
    this.name = name;
    const [long, longer] = WORDS[name] ?? [];
    if (long) this.timers.push(setTimeout(this.say, LONG_MS, long));
    if (longer) this.timers.push(setTimeout(this.say, LONGER_MS, longer));
  }

  /** It goes on where it was. */
  again() {
    this.stage(this.name);
  }

  over() {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
  }
}
