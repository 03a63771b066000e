/* Put into each page before its own scripts: what comes, when it is seen, and what takes long. */
(() => {
  const measured = {};
  const reset = () => Object.assign(measured, {
    paints: [], writes: [], gaps: [], tasks: [], frames: 0, began: 0, ended: 0, shift: 0,
  });
  window.measured = reset();
  window.measureAnew = reset;

  /** When the text that has come, but is not to be seen yet, came. */
  let waiting = [];
  window.WebSocket = class extends WebSocket {
    constructor(...rest) {
      super(...rest);
      this.addEventListener('message', ({ data }) => {
        const { type } = JSON.parse(data);
        measured.frames += 1;
        measured.began ||= performance.now();
        if (type === 'token') waiting.push(performance.now());
        if (type === 'done') measured.ended = performance.now();
      });
    }
  };

  // A message that is posted while a frame is made comes back when the frame has been painted.
  const painted = new MessageChannel();
  painted.port1.onmessage = ({ data }) => {
    const now = performance.now();
    for (const came of data) measured.paints.push(now - came);
  };
  let writes = 0;
  const written = (changes) => {
    const drawn = changes.some(({ target }) => (target.closest ?? target.parentElement?.closest)
      ?.call(target.closest ? target : target.parentElement, '.prose'));
    if (!drawn) return;
    writes += 1;
    painted.port2.postMessage(waiting);
    waiting = [];
  };
  const all = { childList: true, characterData: true, subtree: true };
  document.addEventListener('DOMContentLoaded', () => {
    new MutationObserver(written).observe(document.body, all);
  });

  let last = 0;
  const frame = (now) => {
    if (last) measured.gaps.push(now - last);
    last = now;
    if (writes) measured.writes.push(writes);
    writes = 0;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);

  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) measured.tasks.push([startTime, duration]);
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) measured.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
})();
