/**
 * What is found out about an answer's citations after its end: no frame says it, so the page asks.
 */

/** @import { CitationData, CitationSupport } from "./types.d.ts" */
/** @import { Turn } from "./turn.js" */

// It takes a moment, where a model is asked for it several seconds.
const PAUSES_MS = [1000, 2000, 4000, 8000, 16_000];

// Within the answer's first element of data, whose text holds no "<".
const CITATIONS = /<script type="application\/json">([^<]*)<\/script>/;

/**
 * Show on an answer that has ended how well its citations are supported, once that is known; after
 * a while it is asked for no more.
 * @param {Turn} turn
 * @param {string} url of the answer
 * @param {() => boolean} mayAsk whether the server is there, and the answer
 */
export async function awaitSupport(turn, url, mayAsk) {
  for (const pause of PAUSES_MS) {
    if (turn.citations.every(({ support }) => support)) return;
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (mayAsk()) turn.text.support(await supportOf(url));
  }
}

/**
 * @param {string} url
 * @returns {Promise<CitationSupport[]>} nothing if it is not known, or the server not there
 */
async function supportOf(url) {
  const text = await fetch(url).then((response) => response.text(), () => "");
  /** @type {CitationData[]} */
  const citations = JSON.parse(text.match(CITATIONS)?.[1] ?? "[]");
  return citations.flatMap(({ support, page: number, quote, place }, citation) =>
    support ? [{ citation, support, page: number, quote, place }] : [],
  );
}
