/**
 * Marks on a page: boxes over the words of a passage, a stronger one over its quote.
 */

/** @import { MarkedPage } from "./pdf.d.ts" */
/** @import { Stretch } from "./panel-match.js" */

import { PageText } from "./panel-match.js";

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box in pixels */

/**
 * Mark a passage.
 * @param {HTMLElement} sheet the page as it is shown, with its text in it
 * @param {HTMLElement[]} pieces elements with the page's text
 * @param {MarkedPage} wanted
 * @returns {HTMLElement | null} the layer of marks; null if there is nothing to mark
 */
export function marks(sheet, pieces, wanted) {
  const text = new PageText(pieces.map((piece) => piece.textContent ?? ""));
  const passage = text.find(wanted.passage);
  const quote = text.find(wanted.quote, passage);
  if (!passage.length && !quote.length) return null;
  const layer = document.createElement("div");
  layer.className = "page-marks";
  layer.dataset.marked = quote.length ? "quote" : "passage";
  const page = sheet.getBoundingClientRect();
  for (const [name, stretches] of /** @type {[string, Stretch[]][]} */ (
    Object.entries({ passage, quote })
  )) {
    for (const box of lines(boxes(pieces, stretches))) layer.append(drawn(name, box, page));
  }
  return layer;
}

/**
 * @param {HTMLElement[]} pieces
 * @param {Stretch[]} stretches
 * @returns {Box[]}
 */
function boxes(pieces, stretches) {
  return stretches.flatMap(({ piece, start, end }) => {
    const text = pieces[piece]?.firstChild;
    if (!text) return [];
    const range = document.createRange();
    range.setStart(text, start);
    range.setEnd(text, end);
    const { left, top, right, bottom } = range.getBoundingClientRect();
    return right > left ? [{ left, top, right, bottom }] : [];
  });
}

/**
 * Join boxes that stand beside each other on a line.
 * @param {Box[]} found
 * @returns {Box[]}
 */
function lines(found) {
  /** @type {Box[]} */
  const joined = [];
  for (const box of found) {
    const last = joined.at(-1);
    const height = box.bottom - box.top;
    const beside =
      last &&
      Math.min(last.bottom, box.bottom) - Math.max(last.top, box.top) > height / 2 &&
      box.left - last.right < height &&
      last.left - box.right < height;
    if (!beside) {
      joined.push({ ...box });
      continue;
    }
    last.left = Math.min(last.left, box.left);
    last.top = Math.min(last.top, box.top);
    last.right = Math.max(last.right, box.right);
    last.bottom = Math.max(last.bottom, box.bottom);
  }
  return joined;
}

/**
 * In parts of the page, so that it stays right at any zoom.
 * @param {string} name
 * @param {Box} box
 * @param {DOMRect} page
 */
function drawn(name, box, page) {
  const mark = document.createElement("div");
  mark.className = `page-mark page-mark-${name}`;
  mark.style.left = `${((box.left - page.left) / page.width) * 100}%`;
  mark.style.top = `${((box.top - page.top) / page.height) * 100}%`;
  mark.style.width = `${((box.right - box.left) / page.width) * 100}%`;
  mark.style.height = `${((box.bottom - box.top) / page.height) * 100}%`;
  return mark;
}
