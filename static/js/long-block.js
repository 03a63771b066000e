/**
 * A long block on the page: its finished parts are drawn once, and only what stands behind them is
 * drawn again while it grows.
 */

/** @import { Kind } from "./parts.js" */

import { colourPart } from "./code.js";
import { cut, opening } from "./parts.js";
import { patch } from "./patch.js";

// What may be the end of a block of code; its last line may be one before the next character.
const FENCE = /(?:^|\n) {0,3}(?:`{3,}|~{3,})[ \t]*\n*$/;

/** A block of one of the kinds that can be cut. */
export class LongBlock {
  /**
   * Show it from its beginning.
   * @param {Element} element whose content it is
   * @param {Kind} kind
   * @param {number} start of `raw` in the source
   * @param {string} raw
   * @param {(source: string) => DocumentFragment} draw reads and draws a block by itself
   */
  constructor(element, kind, start, raw, draw) {
    this.kind = kind;
    this.draw = draw;
    /** What stands before each part but the first. */
    this.opening = opening(kind, raw);
    const size = cut(kind, raw);
    const content = draw(raw.slice(0, size));
    /** Holds the parts. */
    this.slot = slotOf(kind, content);
    if (!isWhole(kind)) this.slot.replaceChildren(wrapped(this.slot, raw.slice(0, size)));
    element.replaceChildren(content);
    /** The last of the finished parts. */
    this.last = this.slot.lastChild;
    /** Where the finished parts end in the source. */
    this.end = start + size;
    this.add(raw.slice(size));
  }

  /**
   * Add what finished parts there are in `source`, and show the rest behind them.
   * @param {string} source what stands behind the finished parts
   */
  add(source) {
    for (let size = cut(this.kind, source); size; size = cut(this.kind, source)) {
      this.showLast(source.slice(0, size));
      this.last = this.slot.lastChild;
      this.end += size;
      source = source.slice(size);
      if (this.kind === "code") colourPart(this.last);
    }
    this.showLast(source);
  }

  /** Nothing more comes. */
  finish() {
    if (this.kind === "code") colourPart(this.slot.lastChild);
  }

  /**
   * Show `source` in place of what stands behind the finished parts.
   * @param {string} source
   */
  showLast(source) {
    if (!source.trim()) patch(this.slot, [], this.last);
    else if (this.isBare(source)) patch(this.slot, [bare(source)], this.last);
    else {
      const part = slotOf(this.kind, this.draw(this.opening + source));
      const drawn = isWhole(this.kind) ? part.childNodes : [wrapped(part, source)];
      patch(this.slot, drawn, this.last);
    }
  }

  /**
   * Say whether a part is code and nothing else: it is shown as it is, and coloured when finished.
   * @param {string} source
   */
  isBare(source) {
    return this.kind === "code" && /^[`~]/.test(this.opening) && !FENCE.test(source);
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
  const element = newPart();
  element.append(...part.childNodes);
  // The white space at which a paragraph was cut.
  if (/\s$/.test(source) && !/\s$/.test(element.textContent ?? "")) element.append(" ");
  return element;
}

/** @param {string} source */
function bare(source) {
  const element = newPart();
  element.textContent = source.endsWith("\n") ? source : `${source}\n`;
  return element;
}

function newPart() {
  const element = document.createElement("span");
  element.className = "part";
  return element;
}
