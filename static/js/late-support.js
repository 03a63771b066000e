/**
 * What is found out about an answer's citations after its end: no frame says it, so the page asks,
 * as long as the server says of the answer that more may come.
 */

/** @import { CitationData, CitationSupport } from "./types.d.ts" */
/** @import { Turn } from "./turn.js" */

// It takes a moment, where a model is asked for it several seconds.
const PAUSES_MS = [1000, 2000, 4000, 8000, 16_000, 32_000];

// Within the answer's first element of data, whose text holds no "<".
const CITATIONS = /<script type="application\/json">([^<]*)<\/script>/;
const MORE_MAY_COME = "data-checking";

/**
 * Show on answers how well their citations are supported, once that is known.
 * @param {ParentNode} root of the answers
 * @param {(element: Element) => Turn | undefined} turnOf
 * @param {(message: string) => Promise<string>} fetched an answer as the server shows it
 */
export function awaitSupport(root, turnOf, fetched) {
  const look = () => {
    for (const foot of root.querySelectorAll(`[${MORE_MAY_COME}]`)) {
      foot.removeAttribute(MORE_MAY_COME);
      const turn = turnOf(foot);
      if (turn) follow(turn, fetched);
    }
  };
  document.addEventListener("htmx:afterSettle", look);
  look();
}

/**
 * @param {Turn} turn
 * @param {(message: string) => Promise<string>} fetched
 */
async function follow(turn, fetched) {
  for (const pause of PAUSES_MS) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    const html = await fetched(turn.element.dataset.message ?? "");
    turn.text.support(supportIn(html));
    if (html && !html.includes(MORE_MAY_COME)) return;
  }
}

/**
 * @param {string} html of an answer
 * @returns {CitationSupport[]} nothing if it is not known
 */
function supportIn(html) {
  /** @type {CitationData[]} */
  const citations = JSON.parse(html.match(CITATIONS)?.[1] ?? "[]");
  return citations.flatMap(({ support, page, quote, place }, citation) =>
    support ? [{ citation, support, page, quote, place }] : [],
  );
}
