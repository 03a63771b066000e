/**
 * The width of the source panel: dragged, or changed with the arrow keys, and remembered.
 */

const WIDTH_KEY = "panel-width";
const MIN_PX = 320;
const MAX_PART = 0.56;
const STEP_PX = 32;

/**
 * @param {HTMLElement} root
 * @param {HTMLElement} panel
 */
export function resizable(root, panel) {
  const grip = /** @type {HTMLElement} */ (panel.querySelector(".panel-grip"));
  // The panel stands where lines end: on the left, where one reads from the right.
  const outwards = () => (getComputedStyle(panel).direction === "rtl" ? -1 : 1);
  const widest = () => Math.max(MIN_PX, Math.round(innerWidth * MAX_PART));

  resize(Number(localStorage.getItem(WIDTH_KEY)));
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    root.toggleAttribute("data-resizing", true);
  });
  grip.addEventListener("pointermove", (event) => {
    if (!grip.hasPointerCapture(event.pointerId)) return;
    const { left, right } = panel.getBoundingClientRect();
    resize(outwards() > 0 ? right - event.clientX : event.clientX - left);
  });
  grip.addEventListener("lostpointercapture", () => {
    root.toggleAttribute("data-resizing", false);
  });
  grip.addEventListener("dblclick", reset);
  grip.addEventListener("focus", tell);
  grip.addEventListener("keydown", (event) => {
    const width = panel.offsetWidth;
    const wanted = {
      ArrowLeft: width + STEP_PX * outwards(),
      ArrowRight: width - STEP_PX * outwards(),
      Home: MIN_PX,
      End: widest(),
    }[event.key];
    if (!wanted) return;
    event.preventDefault();
    resize(wanted);
  });

  /** @param {number} width in pixels; 0 leaves the style sheet's own */
  function resize(width) {
    if (!width) return;
    const kept = Math.round(Math.min(widest(), Math.max(MIN_PX, width)));
    root.style.setProperty("--panel-width", `${kept}px`);
    localStorage.setItem(WIDTH_KEY, String(kept));
    tell(kept);
  }

  function reset() {
    root.style.removeProperty("--panel-width");
    localStorage.removeItem(WIDTH_KEY);
  }

  /** @param {number | Event} [width] */
  function tell(width) {
    const now = typeof width === "number" ? width : panel.offsetWidth;
    grip.setAttribute("aria-valuemin", String(MIN_PX));
    grip.setAttribute("aria-valuemax", String(widest()));
    grip.setAttribute("aria-valuenow", String(now));
  }
}
