/**
 * What is offered beside an error: the page carries it by codes, from chat/ways_on.py.
 */

/** @type {Record<string, string>} */
const WAYS = JSON.parse(document.getElementById("ways")?.textContent || "{}");

/**
 * @param {string} code an error's
 * @returns {string} `again`, `edit` or `new`
 */
export function wayOn(code) {
  return WAYS[code] ?? "again";
}

/**
 * Leave the one way on that helps.
 * @param {Element} notice
 * @param {string} code
 */
export function offerWay(notice, code) {
  const way = wayOn(code);
  for (const each of notice.querySelectorAll("[data-way]")) {
    /** @type {HTMLElement} */ (each).hidden = /** @type {HTMLElement} */ (each).dataset.way !== way;
  }
}
