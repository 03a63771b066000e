/**
 * The staff's page of a conversation: answers as their readers saw them, marks that lead to the
 * evidence beside them.
 */

import { Turn } from "./turn.js";

for (const element of document.querySelectorAll(".answer")) {
  const answer = /** @type {HTMLElement} */ (element);
  Turn.adopt(answer);
  answer.addEventListener("click", (event) => {
    const mark = event.target instanceof Element ? event.target.closest(".cite") : null;
    if (!(mark instanceof HTMLElement)) return;
    const id = `citation-${answer.dataset.message}-${mark.dataset.ordinal}`;
    const row = /** @type {HTMLDetailsElement | null} */ (document.getElementById(id));
    if (!row) return;
    row.open = true;
    row.scrollIntoView({ block: "nearest" });
    /** @type {HTMLElement | null} */ (row.querySelector("summary"))?.focus();
  });
}
