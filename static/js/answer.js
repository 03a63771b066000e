/**
 * The text of one answer on the page, streamed or reloaded: markdown, citation marks, cursor.
 *
 * A frame's work does not grow with the answer: finished blocks keep their elements, and of a long
 * block only what has come since its last finished part is read again (parts.js).
 */

/** @import { CitationData, CitationSupport } from "./types.d.ts" */
/** @import { Kind } from "./parts.js" */
/** @import { Block } from "./markdown.js" */

import { CitedText, placeMarks, showSupport } from "./citations.js";
import { dressCode } from "./code.js";
import { blocks, extent } from "./markdown.js";
import { drawMaths } from "./maths.js";
import { cut, opening } from "./parts.js";
import { patch } from "./patch.js";
import { sanitise } from "./sanitiser.js";
import { settled } from "./settling.js";

/** @typedef {{ start: number, html: string, element: HTMLElement, long?: LongBlock }} ShownBlock */
/**
 * @typedef {object} LongBlock
 * @property {Kind} kind
 * @property {string} opening what stands before each part but the first
 * @property {number} end where the finished parts end in the source
 * @property {Element | DocumentFragment} slot holds the parts
 * @property {Node | null} last of the finished parts
 */

const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;
// What takes longer to draw is drawn less often: the page has three times as long for other things.
const SLOW_MS = 12;
const REST = 3;

/** Draws a growing text into an element. */
export class AnswerText {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    this.cursor = document.createElement("span");
    this.cursor.className = "cursor";
    this.cursor.setAttribute("aria-hidden", "true");
    this.frame = 0;
    this.restUntil = 0;
    this.cited = new CitedText();
    /** @type {ShownBlock[]} */
    this.shown = [];
    /** @type {Parameters<typeof blocks>[1]} */
    this.links = {};
    this.dirtyFrom = 0;
    this.reset();
  }

  reset() {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.restUntil = 0;
    this.cited = new CitedText();
    this.shown = [];
    this.links = {};
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
    showSupport(this.element, this.citations);
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
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      if (now < this.restUntil) this.schedule();
      else this.draw();
    });
  }

  /** Draw what has changed since the last time, with the cursor after it. */
  draw() {
    const began = performance.now();
    this.update(settled);
    deepestEnd(this.element).append(this.cursor);
    const took = performance.now() - began;
    this.restUntil = took > SLOW_MS ? began + took * (1 + REST) : 0;
  }

  /** Draw all of it, without a cursor. */
  finish() {
    // Link definitions may come after their use.
    if (DEFINITION.test(this.cited.source)) this.dirtyFrom = 0;
    this.update((source) => source);
  }

  /** @param {(source: string) => string} read what is to be shown of a growing text */
  update(read) {
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.cursor.remove();
    this.links = {};
    const { source } = this.cited;
    const last = this.shown.findLastIndex((block) => block.start < this.dirtyFrom);
    // What follows can still change the block before it: a list goes on after an empty line.
    const block = this.shown[last];
    if (block?.long && this.dirtyFrom >= block.long.end) this.grow(last, source, read);
    else if (block) this.show(last, block.start, read(source.slice(block.start)));
    else this.show(0, 0, read(source));
    this.dirtyFrom = source.length;
  }

  /**
   * Show `source` as the blocks from number `first` on; those that are unchanged are left alone.
   * @param {number} first
   * @param {number} start offset of `source` in the whole
   * @param {string} source
   */
  show(first, start, source) {
    this.showBlocks(first, start, blocks(source, this.links));
  }

  /**
   * @param {number} position
   * @param {number} start
   * @param {Block[]} found
   */
  showBlocks(position, start, found) {
    for (const { raw, html, kind } of found) {
      if (kind) this.showLong(position, start, raw, kind);
      else if (html) this.showBlock(position, { start, html });
      if (kind || html) position += 1;
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
    const element = this.elementAt(position);
    patch(element, this.content(html).childNodes);
    this.shown[position] = { start, html, element };
  }

  /**
   * Show a long block from its beginning.
   * @param {number} position
   * @param {number} start
   * @param {string} raw
   * @param {Kind} kind
   */
  showLong(position, start, raw, kind) {
    const element = this.elementAt(position);
    const size = cut(kind, raw);
    const [{ html }] = blocks(raw.slice(0, size), this.links, true);
    const content = this.content(html);
    const slot = slotOf(kind, content);
    if (!isWhole(kind)) slot.replaceChildren(wrapped(slot, raw.slice(0, size)));
    element.replaceChildren(content);
    const long = { kind, opening: opening(kind, raw), end: start + size, slot, last: slot.lastChild };
    this.shown[position] = { start, html: "", element, long };
    this.addParts(long, raw.slice(size));
  }

  /**
   * Show what has come to a long block, and behind it.
   * @param {number} position
   * @param {string} source the whole
   * @param {(source: string) => string} read
   */
  grow(position, source, read) {
    const block = this.shown[position];
    const { long } = /** @type {{ long: LongBlock }} */ (block);
    const rest = read(long.opening + source.slice(long.end));
    const own = extent(rest, long.kind);
    if (own < long.opening.length) {
      // It is no such block any more.
      this.show(position, block.start, read(source.slice(block.start)));
      return;
    }
    const end = long.end;
    this.addParts(long, rest.slice(long.opening.length, own));
    const behind = end + own - long.opening.length;
    this.showBlocks(position + 1, behind, blocks(rest.slice(own), this.links));
  }

  /**
   * Add what finished parts there are in `source`, and show the rest behind them.
   * @param {LongBlock} long
   * @param {string} source
   */
  addParts(long, source) {
    for (let size = cut(long.kind, source); size; size = cut(long.kind, source)) {
      this.showPart(long, source.slice(0, size));
      long.last = long.slot.lastChild;
      long.end += size;
      source = source.slice(size);
    }
    this.showPart(long, source);
  }

  /**
   * Show `source` in place of what stands behind the finished parts.
   * @param {LongBlock} long
   * @param {string} source
   */
  showPart({ kind, opening: before, slot, last }, source) {
    if (!source.trim()) {
      patch(slot, [], last);
      return;
    }
    const [{ html }] = blocks(before + source, this.links, true);
    const part = slotOf(kind, this.content(html));
    patch(slot, isWhole(kind) ? part.childNodes : [wrapped(part, source)], last);
  }

  /** @param {number} position */
  elementAt(position) {
    const old = this.shown[position]?.element;
    if (old) return old;
    const element = document.createElement("div");
    element.className = "block";
    this.element.append(element);
    return element;
  }

  /** @param {string} html */
  content(html) {
    const content = sanitise(html);
    placeMarks(content, this.cited.citations);
    drawMaths(content);
    dressCode(content);
    return content;
  }
}

/**
 * Say whether the parts of a block consist of elements anyway: items, rows.
 * @param {Kind} kind
 */
function isWhole(kind) {
  return kind === "list" || kind === "table";
}

/**
 * The element whose children the parts of a block are.
 * @param {Kind} kind
 * @param {DocumentFragment} content
 * @returns {Element | DocumentFragment}
 */
function slotOf(kind, content) {
  const selector = { paragraph: "p", list: "ul, ol", table: "tbody", code: "code" }[kind];
  return content.querySelector(selector) ?? content;
}

/**
 * @param {Element | DocumentFragment} part
 * @param {string} source
 */
function wrapped(part, source) {
  const element = document.createElement("span");
  element.className = "part";
  element.append(...part.childNodes);
  // The white space at which a paragraph was cut.
  if (/\s$/.test(source) && !/\s$/.test(element.textContent ?? "")) element.append(" ");
  return element;
}

/**
 * The element in which the last character stands.
 * @param {Element} element
 * @returns {Element}
 */
function deepestEnd(element) {
  const last = element.lastElementChild;
  if (!last || last.matches(".cite, .cursor, .link-target, .math, br, hr, a, code:not(pre code)")) {
    return element;
  }
  const after = last.nextSibling;
  if (after && after.textContent?.trim()) return element;
  return deepestEnd(last);
}
