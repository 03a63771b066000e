/**
 * Markdown read into top-level blocks with their HTML, which is not yet safe (sanitiser.js).
 */

/** @import { Token, Tokens, Links } from "../vendor/marked/marked.js" */

import { Lexer, Marked } from "../vendor/marked/marked.js";
import { mathsExtension } from "./maths.js";
import { growing } from "./parts.js";

/**
 * @typedef {object} Block
 * @property {string} raw
 * @property {string} html "" where nothing is to be seen
 * @property {import("./parts.js").Kind} [kind] of a block that is so long that it is drawn in parts
 */

const marked = new Marked({ gfm: true }, mathsExtension);

// What is longer and cannot be read in parts, or has more of what may be markup, is shown as it
// is: reading it takes time by the square of these.
const LONGEST = 20_000;
const MOST_MARKS = 1_500;
const MARK = /[*_~`[\]<]/g;

// Of raw HTML only what has no attributes and no meaning beyond type is kept; the rest is shown
// as the text it is, so that nothing of an answer is lost and nothing of it acts.
const PLAIN_TAG = /^<\/?(?:br|sub|sup|b|i|em|strong|kbd|s|u|mark)\s*\/?>$/i;

/** @param {string} text */
function escape(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** @param {Token} token */
const isText = (token) => token.type === "paragraph" || token.type === "text";

marked.use({
  renderer: {
    html({ text, block }) {
      if (PLAIN_TAG.test(text.trim())) return text;
      return block ? `<p>${escape(text.trim())}</p>` : escape(text);
    },
    // The page's own headings are of levels 1 and 2.
    heading({ tokens, depth }) {
      const level = Math.min(depth + 2, 6);
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>`;
    },
    image({ text, href }) {
      return escape(text || href);
    },
    code({ text, lang }) {
      const language = lang?.match(/^[\w+#.-]+/)?.[0];
      const name = language ? ` class="language-${language.toLowerCase()}"` : "";
      const code = `<pre tabindex="0"><code${name}>${escape(text)}\n</code></pre>`;
      return `<div class="code">${code}</div>`;
    },
    // Each item by itself, so that an empty line somewhere in a list does not move all of it.
    listitem({ tokens }) {
      const single = tokens.filter(isText).length < 2;
      const shown = single ? tokens.map((one) => (isText(one) ? { ...one, type: "text" } : one)) : tokens;
      return `<li>${this.parser.parse(/** @type {Token[]} */ (shown))}</li>`;
    },
    checkbox({ checked }) {
      return `<span class="task">${checked ? "☑" : "☐"}</span> `;
    },
    table(token) {
      const row = (/** @type {Tokens.TableCell[]} */ cells) =>
        this.tablerow({ text: cells.map((cell) => this.tablecell(cell)).join("") });
      const body = token.rows.map(row).join("");
      return (
        `<div class="table-scroll" tabindex="0" role="group"><table>` +
        `<thead>${row(token.header)}</thead><tbody>${body}</tbody></table></div>`
      );
    },
  },
});

/**
 * Split markdown into its top-level blocks. The first is read as a whole if it is a `part`.
 * @param {string} source
 * @param {Links} links definitions found before; those of `source` are added
 * @param {boolean} part
 * @returns {Block[]}
 */
export function blocks(source, links, part = false) {
  try {
    return outline(source, links).map((token, number) => {
      const { raw, type } = token;
      if (type === "space" || type === "def") return { raw, html: "" };
      const kind = part && number === 0 ? null : growing(token);
      if (kind) return { raw, html: "", kind };
      return { raw, html: tooLong(raw) ? asItIs(raw) : read(raw, links) };
    });
  } catch (error) {
    // Nested more deeply than can be followed.
    if (error instanceof RangeError) return paragraphs(source);
    throw error;
  }
}

/**
 * Return the length of the first block of `source`; 0 if that is not of this kind.
 * @param {string} source
 * @param {import("./parts.js").Kind} kind
 */
export function extent(source, kind) {
  const [first] = outline(source, {});
  return first?.type === kind ? first.raw.length : 0;
}

/**
 * The top-level blocks as tokens whose own texts have not been read yet.
 * @param {string} source
 * @param {Links} links
 */
function outline(source, links) {
  const lexer = new Lexer(marked.defaults);
  lexer.tokens.links = links;
  lexer.blockTokens(source.replace(/\r\n?/g, "\n"), lexer.tokens);
  return lexer.tokens;
}

/**
 * @param {string} source of one block
 * @param {Links} links
 */
function read(source, links) {
  const lexer = new Lexer(marked.defaults);
  lexer.tokens.links = links;
  return marked.parser(lexer.lex(source)).trimEnd();
}

/** @param {string} raw */
function tooLong(raw) {
  return raw.length > LONGEST || (raw.match(MARK)?.length ?? 0) > MOST_MARKS;
}

/** @param {string} raw */
function asItIs(raw) {
  return raw.trim() && `<p>${escape(raw.trim())}</p>`;
}

/**
 * Text that is not read as markdown: its paragraphs as they are.
 * @param {string} source
 * @returns {Block[]}
 */
function paragraphs(source) {
  return source.split(/(?<=\n)(?=\s*\n)/).map((raw) => ({ raw, html: asItIs(raw) }));
}
