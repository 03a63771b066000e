/**
 * The text of one answer on the page, streamed or reloaded: markdown, citation marks, cursor.
 */

/** @import { CitationData, CitationSupport } from "./types.d.ts" */

import { CitedText, placeMarks } from "./citations.js";
import { blocks, sanitise } from "./markdown.js";

/** @typedef {{ start: number, html: string, element: HTMLElement }} ShownBlock */

/** Draws a growing text into an element: finished blocks keep their elements. */
export class AnswerText {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.cursor = document.createElement("span");
    this.cursor.className = "cursor";
    this.cursor.setAttribute("aria-hidden", "true");
    this.frame = 0;
    this.cited = new CitedText();
    /** @type {ShownBlock[]} */
    this.shown = [];
    this.dirtyFrom = 0;
    this.reset();
  }

  reset() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.cited = new CitedText();
    this.shown = [];
    this.dirtyFrom = 0;
    this.element.replaceChildren();
    this.element.dataset.rendered = "";
  }

  get text() {
    return this.cited.text;
  }

  get citations() {
    return this.cited.citations;
  }

  /** @param {string} text */
  append(text) {
    this.dirtyFrom = Math.min(this.dirtyFrom, this.cited.source.length);
    this.cited.append(text);
    this.schedule();
  }

  /** @param {CitationData} citation */
  cite(citation) {
    this.dirtyFrom = Math.min(this.dirtyFrom, this.cited.cite(citation));
    this.schedule();
  }

  /** @param {CitationSupport[]} found */
  support(found) {
    this.cited.support(found);
  }

  /**
   * Replace all text.
   * @param {string} text
   * @param {CitationData[]} citations
   */
  replace(text, citations) {
    this.reset();
    this.cited.append(text);
    citations.forEach((citation) => this.cited.cite(citation));
  }

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => this.draw());
  }

  /** Draw what has changed since the last time, with the cursor after it. */
  draw() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    const last = this.shown.findLastIndex((block) => block.start < this.dirtyFrom);
    // What follows can still change the block before it: a list goes on after an empty line.
    const keep = Math.max(0, last);
    const start = this.shown[keep]?.start ?? 0;
    this.show(keep, start, settled(this.cited.source.slice(start)));
    this.dirtyFrom = this.cited.source.length;
    deepestEnd(this.element).append(this.cursor);
  }

  /** Draw the whole as it stands, without a cursor: link definitions may come after their use. */
  finish() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.cursor.remove();
    this.show(0, 0, this.cited.source);
  }

  /**
   * Show `source` as the blocks from number `first` on; those that are unchanged are left alone.
   * @param {number} first
   * @param {number} start offset of `source` in the whole
   * @param {string} source
   */
  show(first, start, source) {
    let position = first;
    for (const { raw, html } of blocks(source)) {
      if (html) {
        this.showBlock(position, { start, html });
        position += 1;
      }
      start += raw.length;
    }
    for (const block of this.shown.splice(position)) block.element.remove();
  }

  /**
   * @param {number} position
   * @param {{ start: number, html: string }} block
   */
  showBlock(position, { start, html }) {
    const old = this.shown[position];
    if (old?.html === html) {
      old.start = start;
      return;
    }
    const element = old?.element ?? document.createElement("div");
    const content = sanitise(html);
    placeMarks(content, this.cited.citations);
    element.replaceChildren(content);
    element.className = "block";
    if (!old) this.element.append(element);
    this.shown[position] = { start, html, element };
  }
}

/**
 * Hold back a last line that would be misread until the next character comes: a dash below a
 * paragraph makes a heading of it, and is most often the beginning of a list.
 * @param {string} source
 */
function settled(source) {
  return source.replace(/\n[ \t]*(?:[-=]+|\d+[.)]?|[*+])[ \t]*$/, "");
}

/**
 * The element in which the last character stands.
 * @param {Element} element
 * @returns {Element}
 */
function deepestEnd(element) {
  const last = element.lastElementChild;
  if (!last || last.matches(".cite, .cursor, .link-target, br, hr, a, code:not(pre code)")) return element;
  const after = last.nextSibling;
  if (after && after.textContent?.trim()) return element;
  return deepestEnd(last);
}
