/**
 * Making elements equal to others with as little change as possible: what has not changed keeps
 * its focus, its selection and its place under the pointer.
 */

// Set by the page on what it shows, not by what it is drawn from.
const OWN = new Set(["aria-describedby", "aria-expanded"]);

/**
 * Make the children of `parent` behind `after` equal to `fresh`, which are used up.
 * @param {Node} parent
 * @param {Iterable<Node>} fresh
 * @param {Node | null} after null for all children
 */
export function patch(parent, fresh, after = null) {
  let had = after ? after.nextSibling : parent.firstChild;
  for (const node of [...fresh]) {
    const next = had?.nextSibling ?? null;
    if (!had) parent.appendChild(node);
    else if (!merged(had, node)) parent.replaceChild(node, had);
    had = next;
  }
  while (had) {
    const next = had.nextSibling;
    parent.removeChild(had);
    had = next;
  }
}

/**
 * @param {Node} had
 * @param {Node} node
 * @returns {boolean} whether `had` could be made equal to `node`
 */
function merged(had, node) {
  if (had instanceof Text && node instanceof Text) {
    if (had.data !== node.data) had.data = node.data;
    return true;
  }
  if (!(had instanceof Element) || !(node instanceof Element)) return false;
  if (had.nodeName !== node.nodeName || !sameAttributes(had, node)) return false;
  patch(had, node.childNodes);
  return true;
}

/**
 * @param {Element} had
 * @param {Element} node
 */
function sameAttributes(had, node) {
  const kept = [...had.attributes].filter(({ name }) => !OWN.has(name));
  return (
    kept.length === node.attributes.length &&
    kept.every(({ name, value }) => node.getAttribute(name) === value)
  );
}
