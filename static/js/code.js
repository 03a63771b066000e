/**
 * Code blocks in answers: their language, a button that copies, and colours, whose library is
 * loaded when first needed.
 */

import { copyText } from "./clipboard.js";
import { sanitise } from "./sanitiser.js";
import { later, whenIdle } from "./slices.js";
import { gettext } from "./translation.js";

const COPIED_MS = 1500;
// Longer lines are data, and slow to read.
const LONGEST = 20_000;

/** @type {typeof import("../vendor/highlight/highlight.js").default | null} */
let library = null;
let loading = false;

/**
 * Give the code blocks in `root` their heads, and colours: now, or when the library has come.
 * @param {ParentNode} root
 */
export function dressCode(root) {
  for (const block of root.querySelectorAll("div.code")) {
    const code = block.querySelector("code");
    if (!code) continue;
    block.prepend(head(languageOf(code)));
    if (library) colour(code);
    else if (languageOf(code)) load();
  }
}

/** @param {string} language */
function head(language) {
  const element = document.createElement("div");
  element.className = "code-head";
  const name = document.createElement("span");
  name.textContent = language;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "code-copy";
  button.textContent = gettext("Copy");
  element.append(name, button);
  return element;
}

/** @param {Element} code */
function languageOf(code) {
  return code.className.replace(/^language-/, "");
}

/**
 * Colour a part of a block of code when there is time; if the library is not there yet, it will.
 * @param {Node | null} part
 */
export function colourPart(part) {
  const code = part instanceof Element && part.closest("code");
  if (code && library) later(() => colour(part, languageOf(code)));
}

/**
 * Colour what code in `root` is still plain, when there is time.
 * @param {ParentNode} root
 */
export function colourIn(root) {
  if (!library) return;
  for (const code of root.querySelectorAll("div.code code")) {
    const parts = code.querySelectorAll(":scope > .part");
    whenIdle(parts.length ? parts : [code], (part) => colour(part, languageOf(code)));
  }
}

async function load() {
  if (loading) return;
  loading = true;
  try {
    library = (await import("../vendor/highlight/highlight.js")).default;
  } catch {
    // The network is away: code stays plain, and the next block tries again.
    loading = false;
    return;
  }
  colourIn(document);
}

/**
 * Colour code as far as it is plain.
 * @param {Element} element
 * @param {string} language
 */
function colour(element, language = languageOf(element)) {
  const text = element.textContent ?? "";
  if (!library?.getLanguage(language) || element.firstElementChild) return;
  if (!text || text.length > LONGEST) return;
  const { value } = library.highlight(text, { language, ignoreIllegals: true });
  element.replaceChildren(sanitise(value, "code"));
}

document.addEventListener("click", async (event) => {
  if (!(event.target instanceof Element)) return;
  const button = event.target.closest(".code-copy");
  if (!button) return;
  await copyText(button.closest(".code")?.querySelector("code")?.textContent ?? "");
  button.textContent = gettext("Copied");
  setTimeout(() => (button.textContent = gettext("Copy")), COPIED_MS);
});
