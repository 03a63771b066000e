/**
 * Citation marks: from spans in the source text, through markdown, to buttons.
 *
 * Spans count code points; strings in JavaScript count UTF-16 units. A marker `[n]` that was
 * cited becomes `[<open>ordinal<close>]` before markdown is parsed (the brackets stay, so that
 * emphasis around it is read as before), and a button afterwards.
 */

/** @import { CitationData, CitationSupport, Support } from "./types.d.ts" */

import { fill, gettext } from "./translation.js";

const OPEN = "\uE000";
const CLOSE = "\uE001";
// A longer word may have to break by itself.
const LAST_WORD = /\S{0,24}$/u;
const PLACEHOLDER = /\[\uE000(\d+)\uE001\]/g;

/**
 * Advance from a known place: the UTF-16 offset of code point `target`.
 * @param {string} text
 * @param {number} target
 * @param {{ points: number, units: number }} from a place at or before the target
 */
export function unitsAt(text, target, from) {
  let { points, units } = from;
  for (; points < target && units < text.length; points += 1) {
    units += /** @type {number} */ (text.codePointAt(units)) > 0xffff ? 2 : 1;
  }
  return { points, units };
}

/** The text of an answer as markdown is to read it: cited markers replaced by placeholders. */
export class CitedText {
  constructor() {
    /** The answer's own text. */
    this.text = "";
    /** The same with placeholders. */
    this.source = "";
    /** @type {CitationData[]} */
    this.citations = [];
    this.place = { points: 0, units: 0 };
    this.shift = 0;
  }

  /** @param {string} text */
  append(text) {
    this.text += text;
    this.source += text.replace(/[\uE000\uE001]/g, "\uFFFD");
  }

  /**
   * Mark the marker that `citation` spans; they come in order of their spans.
   * @param {CitationData} citation
   * @returns {number} where the source changed
   */
  cite(citation) {
    const ordinal = this.citations.push(citation) - 1;
    const [start, end] = citation.span;
    if (start < this.place.points) return this.source.length;
    const from = unitsAt(this.text, start, this.place);
    const to = unitsAt(this.text, end, from);
    const marker = this.text.slice(from.units, to.units);
    if (marker !== `[${citation.index}]`) return this.source.length;
    const placeholder = `[${OPEN}${ordinal}${CLOSE}]`;
    const at = from.units + this.shift;
    this.source =
      this.source.slice(0, at) + placeholder + this.source.slice(at + marker.length);
    this.place = to;
    this.shift += placeholder.length - marker.length;
    return at;
  }

  /**
   * Take over how well citations are supported, and by which sentences.
   * @param {CitationSupport[]} found
   */
  support(found) {
    for (const { citation, support, page, quote, place } of found) {
      const known = this.citations[citation];
      if (known) this.citations[citation] = { ...known, support, page, quote, place };
    }
  }
}

/**
 * Replace the placeholders in `root` by buttons; in code, maths and links by the markers they stand
 * for.
 * @param {DocumentFragment} root
 * @param {CitationData[]} citations
 */
export function placeMarks(root, citations) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const found = [];
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    if (node.data.includes(OPEN)) found.push(node);
  }
  for (const node of found) {
    const plain = node.parentElement?.closest("code, a, .math") != null;
    const parts = node.data.split(PLACEHOLDER);
    node.replaceWith(
      ...parts.flatMap((part, position) => {
        if (position % 2 === 1) return [];
        const cited = parts[position + 1];
        if (cited === undefined) return [part];
        const citation = citations[Number(cited)];
        if (plain) return [part, `[${citation?.index}]`];
        return beside(part, mark(citation, cited));
      }),
    );
  }
}

/**
 * Set a mark close to the word it follows, on the same line.
 * @param {string} text
 * @param {HTMLElement} button
 */
function beside(text, button) {
  const close = text.trimEnd();
  const word = close.match(LAST_WORD)?.[0] ?? "";
  const together = document.createElement("span");
  together.className = "cited";
  together.append(word, button);
  return [close.slice(0, close.length - word.length), together];
}

/**
 * @param {CitationData} citation
 * @param {string} ordinal
 */
function mark(citation, ordinal) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "cite";
  button.dataset.ordinal = ordinal;
  button.textContent = String(citation.index);
  describe(button, citation);
  return button;
}

/** @type {Record<Support, string>} */
export const SUPPORT = {
  supported: gettext("Supported by the source"),
  partly: gettext("Partly supported by the source"),
  unsupported: gettext("Not supported by the source"),
};

/**
 * Say of a mark what it leads to, and of one whose source does not support the text that it does not.
 * @param {Element} button
 * @param {CitationData} citation
 */
function describe(button, { index, title, page, support }) {
  const named = page
    ? gettext("Source %(index)s: %(title)s, page %(page)s")
    : gettext("Source %(index)s: %(title)s");
  const doubt = support && support !== "supported" ? `. ${SUPPORT[support]}` : "";
  button.setAttribute("aria-label", fill(named, { index, title, page: page ?? "" }) + doubt);
  if (support) /** @type {HTMLElement} */ (button).dataset.support = support;
}

/**
 * Show on the marks in `root` how well they are supported, now that it is known.
 * @param {ParentNode} root
 * @param {CitationData[]} citations
 */
export function showSupport(root, citations) {
  for (const mark of root.querySelectorAll(".cite")) {
    const citation = citations[Number(/** @type {HTMLElement} */ (mark).dataset.ordinal)];
    if (citation) describe(mark, citation);
  }
}
