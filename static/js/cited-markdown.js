/**
 * An answer as Markdown for use elsewhere: its text, and a list of the sources that it cites.
 */

/** @import { CitationData } from "./types.d.ts" */

import { fill, gettext, ngettext } from "./translation.js";

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
 * One line a number, in their order, with the pages and each sentence that are cited by it.
 * @param {CitationData[]} citations
 */
function sources(citations) {
  /** @type {Map<number, { title: string, pages: Set<number>, quotes: Set<string> }>} */
  const found = new Map();
  for (const { index, title, page, quote } of citations) {
    const entry = found.get(index) ?? { title, pages: new Set(), quotes: new Set() };
    if (page !== null) entry.pages.add(page);
    if (quote) entry.quotes.add(`“${oneLine(quote)}”`);
    found.set(index, entry);
  }
  return [...found]
    .sort(([one], [other]) => one - other)
    .map(([index, { title, pages, quotes }]) => {
      const line = `- [${index}] ${source(title, [...pages])}`;
      return quotes.size ? `${line}: ${[...quotes].join(" ")}` : line;
    });
}

/**
 * @param {string} title
 * @param {number[]} pages
 */
function source(title, pages) {
  if (!pages.length) return oneLine(title);
  const named = ngettext("%(title)s, p. %(pages)s", "%(title)s, pp. %(pages)s", pages.length);
  const ordered = pages.sort((one, other) => one - other);
  return fill(named, { title: oneLine(title), pages: ordered.join(", ") });
}

/** @param {string} text */
function oneLine(text) {
  return text.trim().replace(/\s+/g, " ");
}
