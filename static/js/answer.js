/**
 * The text of one answer on the page, streamed or reloaded: markdown, citation marks, cursor.
 *
 * A frame's work does not grow with the answer: finished blocks keep their elements, and of a long
 * block only what has come since its last finished part is read again (parts.js).
 */

/** @import { CitationData, CitationSupport } from "./types.d.ts" */
/** @import { Block } from "./markdown.js" */

import { CitedText, placeMarks, showSupport } from "./citations.js";
import { colourIn, dressCode } from "./code.js";
import { blocks, extent } from "./markdown.js";
import { LongBlock } from "./long-block.js";
import { drawMaths, drawMathsIn } from "./maths.js";
import { patch } from "./patch.js";
import { sanitise } from "./sanitiser.js";
import { settled } from "./settling.js";
import { inNextFrame, later, notInNextFrame } from "./slices.js";

/** @typedef {{ start: number, html: string, element: HTMLElement, long?: LongBlock }} ShownBlock */
const DEFINITION = /^ {0,3}\[[^\]\n]+\]:/m;
// What takes longer to draw is drawn less often: the page has three times as long for other things.
const SLOW_MS = 12;
const REST = 3;
// So much of a finished answer is drawn at a time.
const PIECE = 2000;

/** Draws a growing text into an element. */
export class AnswerText {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    /** @type {Element} where blocks are drawn: the element itself, or one that is not shown yet */
    this.sheet = element;
    this.cursor = document.createElement("span");
    this.cursor.className = "cursor";
    this.cursor.setAttribute("aria-hidden", "true");
    this.inFrame = (/** @type {number} */ now) => {
      if (now < this.restUntil) this.schedule();
      else this.draw();
    };
    this.restUntil = 0;
    this.cited = new CitedText();
    /** @type {ShownBlock[]} */
    this.shown = [];
    /** @type {Parameters<typeof blocks>[1]} */
    this.links = {};
    this.dirtyFrom = 0;
    // What stands there is to be adopted, and plain until then.
    if (!element.hasChildNodes()) element.dataset.rendered = "";
  }

  reset() {
    notInNextFrame(this.inFrame);
    this.restUntil = 0;
    this.cited = new CitedText();
    this.shown = [];
    this.links = {};
    this.dirtyFrom = 0;
    this.sheet = this.element;
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

  /**
   * Take over an answer that stands there as plain text: it is drawn when there is time, and takes
   * the place of that then.
   * @param {CitationData[]} citations
   */
  adopt(citations) {
    this.cited.append(this.element.textContent ?? "");
    citations.forEach((citation) => this.cited.cite(citation));
    this.sheet = document.createElement("div");
    const { cited } = this;
    const drawPiece = () => {
      if (cited !== this.cited) return; // something else is shown by now
      const end = this.dirtyFrom + PIECE;
      if (end >= cited.source.length) this.finish();
      else this.update(cited.source.slice(0, end), (source) => source);
      if (end < cited.source.length) later(drawPiece);
    };
    later(drawPiece);
  }

  schedule() {
    inNextFrame(this.inFrame);
  }

  /** Draw what has changed since the last time, with the cursor after it. */
  draw() {
    const began = performance.now();
    this.update(this.cited.source, settled);
    deepestEnd(this.element).append(this.cursor);
    const took = performance.now() - began;
    this.restUntil = took > SLOW_MS ? began + took * (1 + REST) : 0;
  }

  /** Draw all of it, without a cursor. */
  finish() {
    // Link definitions may come after their use.
    if (DEFINITION.test(this.cited.source)) this.dirtyFrom = 0;
    this.update(this.cited.source, (source) => source);
    this.shown.at(-1)?.long?.finish();
    if (this.sheet === this.element) return;
    this.element.replaceChildren(...this.sheet.childNodes);
    this.element.dataset.rendered = "";
    this.sheet = this.element;
    // What came while this was not on the page.
    drawMathsIn(this.element);
    colourIn(this.element);
  }

  /**
   * @param {string} source the whole of it
   * @param {(source: string) => string} read what is to be shown of a growing text
   */
  update(source, read) {
    notInNextFrame(this.inFrame);
    this.cursor.remove();
    this.links = {};
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
      if (kind) {
        const element = this.elementAt(position);
        const long = new LongBlock(element, kind, start, raw, (part) => this.part(part));
        this.shown[position] = { start, html: "", element, long };
      } else if (html) this.showBlock(position, { start, html });
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
    long.add(rest.slice(long.opening.length, own));
    const behind = end + own - long.opening.length;
    this.showBlocks(position + 1, behind, blocks(rest.slice(own), this.links));
  }

  /** @param {number} position */
  elementAt(position) {
    const old = this.shown[position]?.element;
    if (old) return old;
    const element = document.createElement("div");
    element.className = "block";
    this.sheet.append(element);
    return element;
  }

  /** @param {string} source of a block, which is read as a whole */
  part(source) {
    return this.content(blocks(source, this.links, true)[0].html);
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
