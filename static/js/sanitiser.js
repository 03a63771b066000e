/**
 * The only door through which HTML made of an answer becomes elements: text, coloured code, maths.
 */

import DOMPurify from "../vendor/dompurify/dompurify.js";
import { showTarget } from "./link-target.js";
import { gettext } from "./translation.js";

const purify = DOMPurify(window);

// What turns round the text beside it, or hides: overrides of direction, tags, zero-width spaces.
const HIDDEN = /[\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

const NEITHER = { ALLOW_ARIA_ATTR: false, ALLOW_DATA_ATTR: false };
/** What each kind of content may hold; nothing else of it stays but its text. */
const ALLOWED = {
  text: {
    ...NEITHER,
    ALLOWED_TAGS: (
      "a b blockquote br code del div em h3 h4 h5 h6 hr i kbd li mark ol p pre s span strong sub " +
      "sup table tbody td th thead tr u ul"
    ).split(" "),
    ALLOWED_ATTR: ["align", "class", "href", "role", "start", "tabindex"],
    // Their values are no addresses; without this they would be held against the next line.
    ADD_URI_SAFE_ATTR: ["align", "start", "tabindex"],
    ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  },
  code: { ...NEITHER, ALLOWED_TAGS: ["span"], ALLOWED_ATTR: ["class"] },
  // No colours and no sizes: text could be hidden by them. No addresses, and no classes.
  maths: {
    ...NEITHER,
    ALLOWED_TAGS: (
      "math menclose mfrac mi mmultiscripts mn mo mover mpadded mphantom mroot mrow ms mspace " +
      "msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover semantics"
    ).split(" "),
    ALLOWED_ATTR: (
      "accent accentunder columnalign columnlines columnspacing depth display displaystyle fence " +
      "height linethickness lspace mathvariant maxsize minsize movablelimits notation rowlines " +
      "rowspacing rspace scriptlevel separator side stretchy symmetric voffset width"
    ).split(" "),
    ADD_FORBID_CONTENTS: ["annotation", "annotation-xml"],
  },
};

/** @type {Record<string, RegExp>} the classes that mean something, by element */
const CLASSES = {
  code: /^language-[\w+#.-]+$/,
  div: /^(?:table-scroll|code)$/,
  span: /^(?:task|math(?: display)?|hljs-[a-z_-]+(?: [a-z]+_+)*)$/,
};

purify.addHook("uponSanitizeAttribute", (element, attribute) => {
  if (attribute.attrName !== "class") return;
  attribute.keepAttr = CLASSES[element.localName]?.test(attribute.attrValue) ?? false;
});

/**
 * Turn HTML into elements that do nothing but show text.
 * @param {string} html
 * @param {keyof typeof ALLOWED} kind
 * @returns {DocumentFragment}
 */
export function sanitise(html, kind = "text") {
  const content = purify.sanitize(html, { ...ALLOWED[kind], RETURN_DOM_FRAGMENT: true });
  const texts = document.createTreeWalker(content, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = /** @type {Text} */ (texts.currentNode);
    const seen = text.data.replace(HIDDEN, "");
    if (seen !== text.data) text.data = seen;
  }
  content.querySelectorAll("a").forEach(showTarget);
  content.querySelectorAll(".task").forEach(nameTask);
  return content;
}

/** @param {Element} box of a list of tasks: a sign, which is not read out */
function nameTask(box) {
  box.role = "img";
  box.ariaLabel = box.textContent === "☑" ? gettext("Done") : gettext("Not done");
}
