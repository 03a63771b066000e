/**
 * The work of one animation frame, all of it at once: first what is to be seen in this frame, then
 * some of what can wait, as long as there is time.
 */

const SLICE_MS = 8;
// What can wait is done in every so many frames even if each of them is full.
const PATIENCE = 10;

/** @type {Set<(now: number) => void>} */
const draws = new Set();
/** @type {(() => void)[]} */
const left = [];
let asked = false;
let full = 0;

/**
 * Have `draw` called once in the next frame, however often that is asked for.
 * @param {(now: number) => void} draw
 */
export function inNextFrame(draw) {
  draws.add(draw);
  ask();
}

/** @param {(now: number) => void} draw that is not needed any more */
export function notInNextFrame(draw) {
  draws.delete(draw);
}

/**
 * Do something with each element that is still on the page, some in each frame.
 * @param {Iterable<Element>} elements
 * @param {(element: Element) => void} work
 */
export function whenIdle(elements, work) {
  for (const element of elements) later(() => element.isConnected && work(element));
}

/** @param {() => void} work that takes no longer than a few milliseconds */
export function later(work) {
  left.push(work);
  ask();
}

function ask() {
  if (asked) return;
  asked = true;
  requestAnimationFrame(frame);
}

/** @param {number} now */
function frame(now) {
  asked = false;
  const until = performance.now() + SLICE_MS;
  const due = [...draws];
  draws.clear();
  for (const draw of due) draw(now);
  full = performance.now() < until ? 0 : full + 1;
  if (full >= PATIENCE) {
    full = 0;
    left.shift()?.();
  }
  while (left.length && performance.now() < until) left.shift()?.();
  if (left.length) ask();
}
