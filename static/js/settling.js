/**
 * What of a growing markdown text may be shown already: its last characters may mean something else
 * with the next one. Nothing is shown that would turn into something else a moment later.
 */

import { isMaths } from "./maths.js";

// How far back an opening without its end is looked for, and text held back for it.
const REACH = 2000;
const LONGEST_TITLE = 80;
const LONGEST_LINK = 500;
const LONGEST_HEAD = 500;
const CITED = "\uE000";

// A dash below a paragraph would make a heading of it; a number may become an item's, and the
// brackets behind it a task's.
const LINE =
  /(?:^|\n)[ \t]*(?:[-=]+|\d+[.)]?|[*+]|#{1,6}|>|[`~]{1,2}|(?:[-*+]|\d+[.)])[ \t]+\[[ xX]\])[ \t]*$/;
const FENCE = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)]|>)[ \t]+)*(`{3,}|~{3,})([^\n]*)$/gm;
const TABLE_HEAD = /(?:^|\n)[ \t]*\|[^\n]*(?:\n[|:\- \t]*)?$/;
const BLOCK = /\n[ \t]*\n|(?:^|\n)(?=[ \t]*(?:[-*+]|\d+[.)]|#{1,6}|>|\|)[ \t])/g;
const INLINE = /\\[\s\S]?|`+|\$\$?|\[|<\/?[a-z]*$|\*+|_+|~~/gi;
const MATHS_END = { "\\(": "\\)", "\\[": "\\]", $$: "$$" };

/**
 * Return `source` without what is not settled at its end, and with what is open there closed.
 * @param {string} source
 */
export function settled(source) {
  const fence = openFence(source);
  if (fence) {
    // The line of the language, and what may become the end of the block.
    if (!source.includes("\n", fence.index)) return source.slice(0, fence.index);
    return source.replace(/\n[ \t]*[`~]+[ \t]*$/, "\n");
  }
  const text = source.replace(LINE, "");
  const head = TABLE_HEAD.exec(text);
  if (head && head[0].length < LONGEST_HEAD && !/(?:^|\n)[ \t]*\|[^\n]*$/.test(text.slice(0, head.index))) {
    return text.slice(0, head.index);
  }
  const start = paragraphStart(text);
  return text.slice(0, start) + closed(text.slice(start));
}

/**
 * Return the fence of the code block that is open at the end of `source`.
 * @param {string} source
 */
function openFence(source) {
  /** @type {RegExpMatchArray & { index: number } | null} */
  let open = null;
  for (const fence of source.matchAll(FENCE)) {
    if (!open) open = fence[1][0] === "`" && fence[2].includes("`") ? null : fence;
    else if (fence[1].startsWith(open[1]) && !fence[2].trim()) open = null;
  }
  return open;
}

/**
 * Return where the last paragraph, item, heading or row begins, no further back than `REACH`.
 * @param {string} text
 */
function paragraphStart(text) {
  const from = Math.max(0, text.length - REACH);
  const starts = [...text.slice(from).matchAll(BLOCK)];
  const last = starts.at(-1);
  return last ? from + last.index + last[0].length : from;
}

/**
 * Return a paragraph without what is not settled at its end, its open code and emphasis closed.
 * @param {string} text
 */
function closed(text) {
  /** @type {string[]} */
  const open = [];
  INLINE.lastIndex = 0;
  for (let found = INLINE.exec(text); found; found = INLINE.exec(text)) {
    const { index, 0: mark } = found;
    const end = INLINE.lastIndex;
    const held = () => closing(text.slice(0, index), open);
    if (mark[0] === "`") {
      const close = text.slice(end).search(new RegExp(`(?<!\`)${mark}(?!\`)`));
      if (close < 0) return end < text.length ? closing(text + mark, open) : held();
      INLINE.lastIndex = end + close + mark.length;
    } else if (mark[0] === "\\" || mark[0] === "$") {
      const close = mathsEnd(text, index, mark);
      if (close === null) return held();
      INLINE.lastIndex = close;
    } else if (mark === "[") {
      const close = linkEnd(text, index);
      if (close === null) return held();
      INLINE.lastIndex = close;
    } else if (mark[0] === "<") return held();
    else if (!emphasis(text, index, mark, open)) return held();
  }
  return closing(text, open);
}

/**
 * @param {string} text
 * @param {string[]} open
 */
function closing(text, open) {
  return open.length ? text.trimEnd() + open.reverse().join("") : text;
}

/**
 * Return where to go on behind what `mark` at `index` opens; null if its end may still come.
 * @param {string} text
 * @param {number} index
 * @param {string} mark
 */
function mathsEnd(text, index, mark) {
  const behind = index + mark.length;
  if (mark === "$") {
    if (/[\p{L}\p{N}]$/u.test(text.slice(0, index))) return behind;
    const line = text.slice(behind).split("\n", 1)[0];
    const close = /(?<=[^\s\\])\$/.exec(line);
    if (close && isMaths(line.slice(0, close.index))) return behind + close.index + 1;
    const never = /^[\s\d]/.test(line) || line.length < text.length - behind || line.length > 100;
    return close || never ? behind : null;
  }
  const end = MATHS_END[/** @type {keyof typeof MATHS_END} */ (mark)];
  if (!end) return mark === "\\" ? null : behind;
  const close = text.indexOf(end, behind);
  return close < 0 ? null : close + end.length;
}

/**
 * The same for a bracket, which may become a link.
 * @param {string} text
 * @param {number} index
 */
function linkEnd(text, index) {
  const behind = index + 1;
  if (text[behind] === CITED) return behind;
  const close = text.indexOf("]", behind);
  if (close < 0) return text.length - behind > LONGEST_TITLE ? behind : null;
  if (close + 1 === text.length) return null;
  if (text[close + 1] !== "(") return behind;
  const end = text.indexOf(")", close);
  if (end < 0) return text.length - close > LONGEST_LINK ? behind : null;
  return end + 1;
}

/**
 * Take note of what opens or closes emphasis.
 * @param {string} text
 * @param {number} index
 * @param {string} mark
 * @param {string[]} open
 * @returns {boolean} whether it is known which of them it does
 */
function emphasis(text, index, mark, open) {
  const before = text[index - 1] ?? " ";
  const after = text[index + mark.length] ?? "";
  const inWord = mark[0] === "_" && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after);
  if (inWord) return true;
  if (/\S/.test(before) && open.at(-1) === mark) open.pop();
  else if (!after) return false;
  else if (/\S/.test(after)) open.push(mark);
  return true;
}
