/**
 * An answer as Markdown for use elsewhere: its text, and a list of the sources that it cites.
 */

/** @import { CitationData } from "./types.d.ts" */

import { fill, gettext } from "./translation.js";

/**
 * @param {string} text
 * @param {CitationData[]} citations
 */
export function citedMarkdown(text, citations) {
  if (!citations.length) return text;
  const heading = gettext("Sources");
  return `${text.trimEnd()}\n\n**${heading}**\n\n${sources(citations).join("\n")}\n`;
}

/**
 * One line a source, in the order of their numbers, with each sentence that is cited from it.
 * @param {CitationData[]} citations
 */
function sources(citations) {
  /** @type {Map<string, { index: number, line: string, quotes: Set<string> }>} */
  const found = new Map();
  for (const { index, title, page, quote } of citations) {
    const line = `- [${index}] ${source(title, page)}`;
    const entry = found.get(line) ?? { index, line, quotes: new Set() };
    if (quote) entry.quotes.add(`“${oneLine(quote)}”`);
    found.set(line, entry);
  }
  return [...found.values()]
    .sort((one, other) => one.index - other.index)
    .map(({ line, quotes }) => (quotes.size ? `${line}: ${[...quotes].join(" ")}` : line));
}

/**
 * @param {string} title
 * @param {number | null} page
 */
function source(title, page) {
  if (page === null) return oneLine(title);
  return fill(gettext("%(title)s, p. %(page)s"), { title: oneLine(title), page });
}

/** @param {string} text */
function oneLine(text) {
  return text.trim().replace(/\s+/g, " ");
}
