/**
 * Maths in answers: what counts as maths, and KaTeX's MathML, which is loaded when first needed.
 */

/** @import { MarkedExtension, Token, Tokens } from "../vendor/marked/marked.js" */

import { sanitise } from "./sanitiser.js";
import { whenIdle } from "./slices.js";

const LONGEST = 4000;
const MOST_KEPT = 500;
const OPENING = /(?<![\\\p{L}\p{N}$])\$(?=[^\s$])|\$\$|\\[([]/u;
// A cited marker (\uE000) is never in maths: the server, which found it, reads maths as well.
const INLINE =
  /^(?:\\\(([^\uE000]+?)\\\)|\\\[([^\uE000]+?)\\\]|\$\$([^$\uE000]+?)\$\$|\$((?:\\[^\n]|[^\\$`\n\uE000])+?)\$(?![\p{L}\p{N}$]))/u;
const BLOCK =
  /^ {0,3}(?:\$\$((?:(?!\n[ \t]*\n)[^$\uE000])+?)\$\$|\\\[((?:(?!\n[ \t]*\n)[^\uE000])+?)\\\])[ \t]*(?:\n+|$)/;
const TEX = /[\\^_{}=<>]/;

/**
 * Say whether what stands between two single dollar signs is maths, not money or names.
 * @param {string} text
 */
export function isMaths(text) {
  if (/^\s|\s$/.test(text)) return false;
  if (TEX.test(text) || !/\s/.test(text)) return true;
  return !/^\d|\s[a-z]{3,}\s/.test(text);
}

/**
 * @param {string} raw
 * @param {string} tex
 * @param {boolean} display
 */
function token(raw, tex, display) {
  return { type: "maths", raw, text: tex.trim(), display };
}

/** @param {Tokens.Generic} maths */
function html({ text, display }) {
  const escaped = text.replace(/[&<>]/g, (/** @type {string} */ c) => `&#${c.charCodeAt(0)};`);
  return `<span class="math${display ? " display" : ""}">${escaped}</span>`;
}

/** @type {MarkedExtension} */
export const mathsExtension = {
  extensions: [
    {
      name: "mathsBlock",
      level: "block",
      start(source) {
        const places = ["\n$$", "\n\\["].map((opening) => source.indexOf(opening));
        const first = Math.min(...places.filter((place) => place >= 0));
        return Number.isFinite(first) ? first + 1 : undefined;
      },
      tokenizer(source) {
        const found = BLOCK.exec(source);
        if (!found) return undefined;
        return { ...token(found[0], found[1] ?? found[2], true), type: "mathsBlock" };
      },
      renderer: (maths) => `<p>${html(maths)}</p>`,
    },
    {
      name: "maths",
      level: "inline",
      start: (source) => source.search(OPENING),
      tokenizer(source, tokens) {
        const found = INLINE.exec(source);
        if (!found) return undefined;
        const [raw, round, square, dollars, dollar] = found;
        if (dollar !== undefined) {
          const before = /** @type {Token | undefined} */ (tokens.at(-1))?.raw ?? "";
          if (/[\p{L}\p{N}]$/u.test(before) || !isMaths(dollar)) return undefined;
        }
        const display = square !== undefined || dollars !== undefined;
        return token(raw, round ?? square ?? dollars ?? dollar, display);
      },
      renderer: html,
    },
  ],
};

/** @type {typeof import("../vendor/katex/katex.js").default | null} */
let katex = null;
let loading = false;
/** @type {Map<string, DocumentFragment | null>} drawn lately, by source; null cannot be drawn */
const drawn = new Map();

/**
 * Draw the maths in `root`: now, or when KaTeX has come.
 * @param {ParentNode} root
 */
export function drawMaths(root) {
  const found = /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".math"));
  if (!found.length) return;
  if (katex) found.forEach(drawOne);
  else load();
}

async function load() {
  if (loading) return;
  loading = true;
  try {
    katex = (await import("../vendor/katex/katex.js")).default;
  } catch {
    // The network is away: the source stays, and the next maths tries again.
    loading = false;
    return;
  }
  drawMathsIn(document);
}

/**
 * Draw what maths in `root` is still text, when there is time.
 * @param {ParentNode} root
 */
export function drawMathsIn(root) {
  if (!katex) return;
  whenIdle(root.querySelectorAll(".math"), (element) => {
    drawOne(/** @type {HTMLElement} */ (element));
  });
}

/** @param {HTMLElement} element */
function drawOne(element) {
  if (element.firstElementChild) return;
  const tex = element.textContent ?? "";
  const display = element.classList.contains("display");
  const key = `${display}${tex}`;
  let content = drawn.get(key);
  if (content === undefined) {
    content = mathml(tex, display);
    if (drawn.size >= MOST_KEPT) drawn.delete(drawn.keys().next().value ?? "");
    drawn.set(key, content);
  }
  if (content) element.replaceChildren(content.cloneNode(true));
  else element.classList.add("source");
}

/**
 * @param {string} tex
 * @param {boolean} displayMode
 * @returns {DocumentFragment | null} null where it is no TeX that KaTeX knows
 */
function mathml(tex, displayMode) {
  if (!katex || tex.length > LONGEST) return null;
  try {
    const made = katex.renderToString(tex, {
      output: "mathml",
      displayMode,
      throwOnError: true,
      trust: false,
      strict: "ignore",
      maxSize: 10,
      maxExpand: 200,
    });
    // The page's policy would report those that KaTeX sets, before the sanitiser takes them out.
    return sanitise(made.replace(/ style="[^"]*"/g, ""), "maths");
  } catch (error) {
    if (error instanceof katex.ParseError || error instanceof RangeError) return null;
    throw error;
  }
}
