/**
 * Long blocks are drawn in parts, and each part once: where a paragraph, list, table or code block
 * may be cut so that its parts, read by themselves, give what the whole would.
 */

/** @import { Token } from "../vendor/marked/marked.js" */

/** @typedef {"paragraph" | "list" | "table" | "code"} Kind */

/**
 * A block that is no longer than `long` characters is drawn as a whole, whenever it has grown. A
 * part of a longer one ends before or soon after so many; the more elements are made of them, the
 * shorter it is.
 */
const SIZES = {
  paragraph: { long: 2000, part: 1500 },
  list: { long: 2000, part: 1500 },
  table: { long: 800, part: 500 },
  code: { long: 1500, part: 1000 },
};
// So far behind a place it is looked for what begins there.
const AHEAD = 50;
const SENTENCE_END = /[.!?…][\p{Pf}"')\]\uE001]*\s+(?=[\p{L}\p{Pi}"])|[。！？](?=\p{L})/gu;
const ITEM = /^( *)(?:[-*+]|\d{1,9}[.)])(?=\s)/;

/**
 * Return what kind of block that is, if it is to be drawn in parts; null for others.
 * @param {Token} token
 * @returns {Kind | null}
 */
export function growing(token) {
  const kind = kindOf(token);
  return kind && cut(kind, token.raw) ? kind : null;
}

/**
 * @param {Token} token
 * @returns {Kind | null}
 */
function kindOf(token) {
  switch (token.type) {
    case "code":
      return token.codeBlockStyle === "indented" ? null : "code";
    case "paragraph":
    case "list":
    case "table":
      return token.type;
    default:
      return null;
  }
}

/**
 * Return what must stand before a later part, so that it is read as one.
 * @param {Kind} kind
 * @param {string} source the block's
 */
export function opening(kind, source) {
  const lines = { table: 2, code: 1, list: 0, paragraph: 0 }[kind];
  let end = 0;
  for (let line = 0; line < lines; line += 1) end = source.indexOf("\n", end) + 1;
  return source.slice(0, end);
}

/**
 * Return where the first part of `source` ends; 0 if nothing is to be cut off yet.
 *
 * What is known of the text behind never changes it: a part stays as it is while text comes.
 * @param {Kind} kind
 * @param {string} source
 */
export function cut(kind, source) {
  const { long, part } = SIZES[kind];
  if (source.length <= long) return 0;
  if (kind === "paragraph") return cutText(source);
  const find = { list: items, table: lines, code: fullLines }[kind];
  const places = find(source.slice(0, part + AHEAD)).filter((place) => place <= part);
  const end = places.at(-1) ?? find(source)[0] ?? 0;
  if (kind !== "code") return end;
  // Before an empty line behind which the margin is used, it is most likely neither in a comment
  // nor in a string, and colours are right on both sides.
  const clean = places.findLast((place) => /^\n+\S/.test(source.slice(place, long)));
  return clean && clean > part / 3 ? clean : end;
}

/** @param {string} source */
function lines(source) {
  return [...source.matchAll(/\n/g)].map(({ index }) => index + 1);
}

/**
 * Empty lines belong to the next part: what is copied out of a browser would lose one.
 * @param {string} source
 */
function fullLines(source) {
  return [...source.matchAll(/(?<!\n)\n/g)].map(({ index }) => index + 1);
}

/** @param {string} source */
function items(source) {
  const indent = ITEM.exec(source)?.[1].length ?? 0;
  const next = new RegExp(`\\n(?= {0,${indent}}(?:[-*+]|\\d{1,9}[.)])[ \\t])`, "g");
  return [...source.matchAll(next)].map(({ index }) => index + 1);
}

/** @param {string} source */
function cutText(source) {
  const { long, part } = SIZES.paragraph;
  const within = source.slice(0, long);
  for (const { index, 0: end } of within.matchAll(SENTENCE_END)) {
    const place = index + end.length;
    if (place > part / 2 && isClosed(source.slice(0, place))) return place;
  }
  const spaces = [...within.slice(0, part).matchAll(/\s+(?=\p{L})/gu)];
  const last = spaces.at(-1);
  if (last) return last.index + last[0].length;
  const behind = source.slice(part).search(/(?<=\p{L})(?=\p{L})/u);
  return behind < 0 ? 0 : part + behind;
}

/**
 * Say whether all that is opened in a text is closed in it: emphasis, code, maths, brackets.
 * @param {string} text
 */
function isClosed(text) {
  const count = (/** @type {RegExp} */ mark) => text.match(mark)?.length ?? 0;
  const even = [/\*/g, /_/g, /`/g, /~~/g, /\$/g].every((mark) => count(mark) % 2 === 0);
  return even && count(/\[/g) === count(/\]/g) && count(/\(/g) === count(/\)/g);
}
