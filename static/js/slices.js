/**
 * Work on many elements in slices that leave each frame its time.
 */

const SLICE_MS = 8;

/**
 * Do something with each element that is still on the page, some in each frame.
 * @param {Iterable<Element>} elements
 * @param {(element: Element) => void} work
 */
export function whenIdle(elements, work) {
  const left = [...elements];
  const slice = () => {
    const until = performance.now() + SLICE_MS;
    while (left.length && performance.now() < until) {
      const element = /** @type {Element} */ (left.shift());
      if (element.isConnected) work(element);
    }
    if (left.length) requestAnimationFrame(slice);
  };
  slice();
}
