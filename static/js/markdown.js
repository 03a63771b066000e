/**
 * Markdown to safe DOM: the only door through which an answer's text becomes elements.
 */

import { Marked } from "../vendor/marked/marked.js";
import DOMPurify from "../vendor/dompurify/dompurify.js";

/** @typedef {{ raw: string, html: string }} Block */

const marked = new Marked({ gfm: true });

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
  ALLOWED_ATTR: ["align", "class", "href", "role", "start", "tabindex", "title"],
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
purify.addHook("afterSanitizeAttributes", (element) => {
  if (element.localName !== "a") return;
  element.setAttribute("rel", "noopener noreferrer nofollow");
  element.setAttribute("target", "_blank");
});

/**
 * Split markdown into its top-level blocks, each with its HTML (not yet safe).
 * @param {string} source
 * @returns {Block[]}
 */
export function blocks(source) {
  const tokens = marked.lexer(source);
  return tokens.map((token) => {
    const one = Object.assign([token], { links: tokens.links });
    const silent = token.type === "space" || token.type === "def";
    return { raw: token.raw, html: silent ? "" : marked.parser(one) };
  });
}

/**
 * Turn HTML made from markdown into elements that do nothing but show text.
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function sanitise(html) {
  return purify.sanitize(html, { ...SAFE, RETURN_DOM_FRAGMENT: true });
}
