/**
 * Markdown to safe DOM: the only door through which an answer's text becomes elements.
 */

import { Marked } from "../vendor/marked/marked.js";
import DOMPurify from "../vendor/dompurify/dompurify.js";
import { showTarget } from "./link-target.js";

/** @typedef {{ raw: string, html: string }} Block */

const marked = new Marked({ gfm: true });

// A paragraph that is longer, or has more of what may be markup, is shown as it is: reading it takes
// time by the square of these.
const LONGEST_PARAGRAPH = 20_000;
const MOST_MARKS = 1_500;
const MARK = /[*_~`[\]<]/g;
// What turns round the text beside it, or hides: overrides of direction, tags, zero-width spaces.
const HIDDEN = /[\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

// Of raw HTML only what has no attributes and no meaning beyond type is kept; the rest is shown
// as the text it is, so that nothing of an answer is lost and nothing of it acts.
const PLAIN_TAG = /^<\/?(?:br|sub|sup|b|i|em|strong|kbd|s|u|mark)\s*\/?>$/i;

/** @param {string} text */
function escape(text) {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

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
    table(token) {
      const row = (/** @type {import("../vendor/marked/marked.js").Tokens.TableCell[]} */ cells) =>
        this.tablerow({ text: cells.map((cell) => this.tablecell(cell)).join("") });
      const body = token.rows.map(row).join("");
      return (
        `<div class="table-scroll" tabindex="0" role="group"><table>` +
        `<thead>${row(token.header)}</thead><tbody>${body}</tbody></table></div>`
      );
    },
  },
});

const purify = DOMPurify(window);
const SAFE = {
  ALLOWED_TAGS: (
    "a b blockquote br code del div em h3 h4 h5 h6 hr i kbd li mark ol p pre s strong sub " +
    "sup table tbody td th thead tr u ul"
  ).split(" "),
  ALLOWED_ATTR: ["align", "class", "href", "role", "start", "tabindex"],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  // Their values are no addresses; without this they would be held against the next line.
  ADD_URI_SAFE_ATTR: ["align", "start", "tabindex"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
};

purify.addHook("uponSanitizeAttribute", (element, attribute) => {
  if (attribute.attrName !== "class") return;
  const meant = element.localName === "code" ? /^language-[\w+#.-]+$/ : /^table-scroll$/;
  attribute.keepAttr = meant.test(attribute.attrValue);
});
/**
 * Split markdown into its top-level blocks, each with its HTML (not yet safe).
 * @param {string} source
 * @returns {Block[]}
 */
export function blocks(source) {
  if (source.split(/\n\s*\n/).some(tooLong)) return asItIs(source);
  try {
    const tokens = marked.lexer(source);
    return tokens.map((token) => {
      const one = Object.assign([token], { links: tokens.links });
      const silent = token.type === "space" || token.type === "def";
      return { raw: token.raw, html: silent ? "" : marked.parser(one) };
    });
  } catch (error) {
    // Nested more deeply than can be followed.
    if (error instanceof RangeError) return asItIs(source);
    throw error;
  }
}

/** @param {string} paragraph */
function tooLong(paragraph) {
  return (
    paragraph.length > LONGEST_PARAGRAPH || (paragraph.match(MARK)?.length ?? 0) > MOST_MARKS
  );
}

/**
 * Text that is not read as markdown: its paragraphs as they are.
 * @param {string} source
 * @returns {Block[]}
 */
function asItIs(source) {
  const parts = source.split(/(?<=\n)(?=\s*\n)/);
  return parts.map((raw) => ({ raw, html: raw.trim() && `<p>${escape(raw.trim())}</p>` }));
}

/**
 * Turn HTML made from markdown into elements that do nothing but show text.
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function sanitise(html) {
  const content = purify.sanitize(html, { ...SAFE, RETURN_DOM_FRAGMENT: true });
  const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode);
    if (HIDDEN.test(text.data)) text.data = text.data.replace(HIDDEN, "");
  }
  content.querySelectorAll("a").forEach(showTarget);
  return content;
}
