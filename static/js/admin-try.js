/**
 * The box beside an assistant's form: a question answered as the form stands, with what was found.
 */

/** @import { CitationData, Frame, Source } from "./types.d.ts" */

import { AnswerText } from "./answer.js";
import { fill, gettext } from "./translation.js";

/** @typedef {Source & { heading: string, snippet: string, scores: Record<string, number> }} Found */

/** One try after the other: the next one ends the one before. */
class Trial {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.text = new AnswerText(this.part(".prose"));
    /** @type {AbortController | null} */
    this.asking = null;
    this.part(".try-ask").addEventListener("submit", (event) => {
      event.preventDefault();
      this.ask();
    });
    this.question.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.ask();
    });
    this.part("[data-stop]").addEventListener("click", () => this.asking?.abort());
    this.part(".prose").addEventListener("click", (event) => {
      const mark = event.target instanceof Element ? event.target.closest(".cite") : null;
      if (mark instanceof HTMLElement) this.showSource(Number(mark.dataset.ordinal));
    });
  }

  /** @param {string} selector */
  part(selector) {
    return /** @type {HTMLElement} */ (this.element.querySelector(selector));
  }

  get question() {
    return /** @type {HTMLTextAreaElement} */ (this.part("#try-question"));
  }

  async ask() {
    if (!this.question.value.trim()) return;
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.begin();
    try {
      const response = await fetch(this.element.dataset.url ?? "", {
        method: "POST",
        body: this.filledIn(),
        signal: asking.signal,
        headers: { Accept: "application/x-ndjson" },
      });
      if (response.status === 422) this.showErrors((await response.json()).errors);
      else if (!response.ok || !response.body) {
        this.fail(gettext("It could not be asked. Reload the page."));
      } else {
        for await (const frame of framesOf(response.body)) {
          if (asking.signal.aborted) return;
          this.receive(frame);
        }
      }
    } catch (error) {
      if (!asking.signal.aborted) this.fail(gettext("The connection was lost."));
      else if (this.asking === asking) this.part(".try-status").textContent = gettext("Stopped.");
    } finally {
      if (this.asking === asking) this.end();
    }
  }

  /** The form as it stands, and the question. */
  filledIn() {
    const form = /** @type {HTMLFormElement} */ (
      document.getElementById(this.element.dataset.form ?? "")
    );
    const data = new FormData(form);
    // Admin chooses what is in the second of its two lists only when the form is sent.
    for (const element of form.querySelectorAll("select.filtered[id$='_to']")) {
      const { name, options } = /** @type {HTMLSelectElement} */ (element);
      data.delete(name);
      for (const { value } of options) data.append(name, value);
    }
    data.set("question", this.question.value);
    return data;
  }

  begin() {
    this.element.dataset.state = "asking";
    this.text.reset();
    this.part("[data-stop]").hidden = false;
    for (const name of ["errors", "warnings", "answer", "search"]) {
      this.part(`.try-${name}`).hidden = true;
    }
    for (const name of ["errors", "warnings", "figures", "query", "sources"]) {
      this.part(`.try-${name}`).replaceChildren();
    }
    this.part(".try-status").textContent = gettext("Asking…");
  }

  end() {
    this.text.finish();
    this.asking = null;
    this.part("[data-stop]").hidden = true;
    if (this.element.dataset.state === "asking") this.element.dataset.state = "done";
  }

  /** @param {Frame} frame */
  receive(frame) {
    switch (frame.type) {
      case "status":
        this.part(".try-status").textContent = frame.message;
        break;
      case "search_results":
        this.showResults(/** @type {any} */ (frame));
        break;
      case "warning":
        this.add(".try-warnings", frame.message);
        break;
      case "token":
        this.part(".try-answer").hidden = false;
        this.text.append(frame.text);
        break;
      case "citation":
        this.text.cite(frame);
        break;
      case "grounding":
        this.text.support(frame.citations);
        break;
      case "done":
        this.showEnd(/** @type {any} */ (frame));
        break;
      case "error":
        this.fail(frame.message);
        break;
    }
  }

  /** @param {{ query: string, results: Found[], retrieval_ms: number }} frame */
  showResults({ query, results, retrieval_ms }) {
    this.part(".try-search").hidden = false;
    const used = results.filter((found) => found.index !== null).length;
    const searched = gettext(
      "Searched for “%(query)s” in %(ms)s ms: %(found)s passages found, %(used)s in the prompt.",
    );
    const facts = { query, ms: retrieval_ms, found: results.length, used };
    this.part(".try-query").textContent = fill(searched, facts);
    this.part(".try-sources").replaceChildren(...results.map(item));
  }

  /** @param {{ finish_reason: string, timings: Record<string, number>, usage: Record<string, number> }} frame */
  showEnd({ finish_reason, timings, usage }) {
    const facts = [
      finish_reason.replace("_", " "),
      timings.first_token_ms === undefined
        ? ""
        : fill(gettext("first word after %(first_token_ms)s ms"), timings),
      fill(gettext("whole answer after %(total_ms)s ms"), timings),
      usage.prompt_tokens
        ? fill(gettext("%(prompt_tokens)s + %(completion_tokens)s tokens"), usage)
        : "",
    ];
    this.part(".try-figures").textContent = facts.filter(Boolean).join(" · ");
    this.part(".try-status").textContent = "";
  }

  /** @param {number} ordinal of a citation, whose source is shown */
  showSource(ordinal) {
    const index = this.text.citations[ordinal]?.index;
    const row = this.part(`.try-sources [data-index="${index}"]`);
    if (!row) return;
    /** @type {HTMLDetailsElement} */ (row.querySelector("details")).open = true;
    row.scrollIntoView({ block: "nearest" });
    row.querySelector("summary")?.focus();
  }

  /** @param {Record<string, string[]>} errors by the names of fields */
  showErrors(errors) {
    this.element.dataset.state = "failed";
    this.part(".try-status").textContent = "";
    for (const [field, messages] of Object.entries(errors)) {
      for (const message of messages) {
        this.add(".try-errors", field ? `${field}: ${message}` : message);
      }
    }
  }

  /** @param {string} message */
  fail(message) {
    this.element.dataset.state = "failed";
    this.part(".try-status").textContent = "";
    this.add(".try-errors", message);
  }

  /**
   * @param {string} list
   * @param {string} text
   */
  add(list, text) {
    this.part(list).hidden = false;
    this.part(list).append(element("li", "", text));
  }
}

/**
 * The frames of a response, as they come.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<Frame>}
 */
async function* framesOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** @param {Found} found */
function item(found) {
  const row = element("li", "try-source");
  row.dataset.index = String(found.index ?? "");
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const place = [found.page ? fill(gettext("p. %(page)s"), { page: found.page }) : "", found.heading].filter(Boolean).join(", ");
  const scores = Object.entries(found.scores).map(([stage, score]) => `${stage} ${score}`);
  summary.append(
    element("span", "try-number", found.index === null ? "–" : String(found.index)),
    element("bdi", "try-title", found.title),
    element("span", "try-place", place),
  );
  details.append(summary, element("p", "try-snippet", found.snippet));
  details.append(element("p", "try-scores", scores.join(" · ")));
  row.append(details);
  return row;
}

/**
 * @param {string} name
 * @param {string} className
 * @param {string} text
 */
function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

const box = document.getElementById("try");
if (box) new Trial(box);
