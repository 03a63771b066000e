/**
 * Where a text stands among the pieces of a page, however either was extracted: only letters and
 * digits count, so that hyphens, ligatures, tables' bars and line ends do not matter.
 */

/** @typedef {{ piece: number, start: number, end: number }} Stretch of one piece, UTF-16 units */

// As long as this, what is equal is so by no accident.
const SEED = 10;
// Less on the page than this part of what is looked for is something else.
const ENOUGH = 0.5;
const LETTER = /[\p{L}\p{N}]/u;

/** @param {string} text */
function fold(text) {
  let folded = "";
  /** @type {[number, number][]} */
  const places = [];
  let at = 0;
  for (const sign of text) {
    for (const part of sign.normalize("NFKD").toLowerCase()) {
      if (!LETTER.test(part)) continue;
      folded += part;
      for (let unit = 0; unit < part.length; unit += 1) places.push([at, at + sign.length]);
    }
    at += sign.length;
  }
  return { folded, places };
}

/** The text of a page, in the pieces that it is drawn in. */
export class PageText {
  /** @param {string[]} pieces */
  constructor(pieces) {
    this.text = "";
    /** @type {Stretch[]} */
    this.places = [];
    pieces.forEach((text, piece) => {
      const { folded, places } = fold(text);
      this.text += folded;
      for (const [start, end] of places) this.places.push({ piece, start, end });
    });
  }

  /**
   * Find a text: as it is, or else most of it, in parts.
   * @param {string} wanted
   * @param {Stretch[]} near where it is looked for first
   * @returns {Stretch[]} none if it is not here
   */
  find(wanted, near = []) {
    const { folded } = fold(wanted);
    if (!folded) return [];
    const from = near[0] ? Math.max(0, this.places.findIndex((place) => same(place, near[0]))) : 0;
    let at = this.text.indexOf(folded, from);
    if (at < 0) at = this.text.indexOf(folded);
    if (at >= 0) return this.stretches([[at, at + folded.length]]);
    return this.stretches(this.parts(folded, from));
  }

  /**
   * @param {string} folded
   * @param {number} from
   * @returns {[number, number][]}
   */
  parts(folded, from) {
    /** @type {[number, number][]} */
    const found = [];
    let matched = 0;
    let last = from;
    for (let i = 0; i + SEED <= folded.length; ) {
      const seed = folded.slice(i, i + SEED);
      let at = this.text.indexOf(seed, last);
      if (at < 0) at = this.text.indexOf(seed);
      if (at < 0) {
        i += 1;
        continue;
      }
      let length = SEED;
      while (i + length < folded.length && folded[i + length] === this.text[at + length]) length += 1;
      found.push([at, at + length]);
      matched += length;
      last = at + length;
      i += length;
    }
    return matched >= ENOUGH * folded.length ? closed(found) : [];
  }

  /**
   * @param {[number, number][]} ranges of the folded text
   * @returns {Stretch[]}
   */
  stretches(ranges) {
    /** @type {Stretch[]} */
    const found = [];
    for (const [from, to] of ranges) {
      for (const { piece, start, end } of this.places.slice(from, to)) {
        const last = found.at(-1);
        if (last?.piece === piece && last.start <= start) last.end = Math.max(last.end, end);
        else found.push({ piece, start, end });
      }
    }
    return found;
  }
}

/**
 * Close the small gaps between ranges: a word that was read in another way.
 * @param {[number, number][]} ranges
 */
function closed(ranges) {
  ranges.sort((one, other) => one[0] - other[0]);
  /** @type {[number, number][]} */
  const joined = [];
  for (const [from, to] of ranges) {
    const last = joined.at(-1);
    if (last && from - last[1] <= SEED) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

/**
 * @param {Stretch} place of one sign
 * @param {Stretch} stretch
 */
function same(place, stretch) {
  return place.piece === stretch.piece && place.start >= stretch.start;
}
