/**
 * The source panel: opens a passage beside the answer, can be dragged wider, gives focus back.
 */

const WIDTH_KEY = "panel-width";
const MIN_PX = 320;
const STEP_PX = 32;

/** Shows what an address returns; any element with `data-panel` opens it. */
export class SourcePanel {
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} panel
   */
  constructor(root, panel) {
    this.root = root;
    this.panel = panel;
    this.body = /** @type {HTMLElement} */ (panel.querySelector("#panel-body"));
    /** @type {HTMLElement | null} */
    this.opener = null;
    document.addEventListener("click", (event) => {
      if (!(event.target instanceof Element)) return;
      const opener = /** @type {HTMLElement | null} */ (event.target.closest("[data-panel]"));
      if (opener) this.open(opener.dataset.panel ?? "", opener);
      else if (event.target.closest("[data-panel-close]")) this.close();
    });
    this.body.addEventListener("htmx:afterSwap", () => this.shown());
    this.body.addEventListener("htmx:sendError", () => this.failed());
    this.body.addEventListener("htmx:responseError", () => this.failed());
    this.resizable(/** @type {HTMLElement} */ (panel.querySelector(".panel-grip")));
  }

  /**
   * @param {string} url
   * @param {HTMLElement} opener gets the focus back
   */
  open(url, opener) {
    if (!this.panel.contains(opener)) this.opener = opener;
    this.panel.inert = false;
    this.panel.dataset.state = "loading";
    this.root.toggleAttribute("data-panel-open", true);
    window.htmx.ajax("GET", url, { source: this.body, target: this.body, swap: "innerHTML" });
  }

  shown() {
    this.panel.dataset.state = "shown";
    this.body.querySelector("mark, .passage")?.scrollIntoView({ block: "center" });
    /** @type {HTMLElement | null} */ (this.body.querySelector("h2"))?.focus({
      preventScroll: true,
    });
  }

  failed() {
    this.panel.dataset.state = "failed";
    this.body.textContent = "The passage could not be loaded.";
  }

  /** @returns {boolean} whether it was open */
  close() {
    if (!this.root.hasAttribute("data-panel-open")) return false;
    this.root.toggleAttribute("data-panel-open", false);
    this.panel.inert = true;
    this.panel.dataset.state = "closed";
    this.body.replaceChildren();
    this.opener?.focus();
    this.opener = null;
    this.panel.dispatchEvent(new CustomEvent("panel:closed"));
    return true;
  }

  /** @param {HTMLElement} grip */
  resizable(grip) {
    this.resize(Number(localStorage.getItem(WIDTH_KEY)));
    grip.addEventListener("pointerdown", (event) => {
      grip.setPointerCapture(event.pointerId);
      this.root.toggleAttribute("data-resizing", true);
    });
    grip.addEventListener("pointermove", (event) => {
      if (!grip.hasPointerCapture(event.pointerId)) return;
      this.resize(this.panel.getBoundingClientRect().right - event.clientX);
    });
    grip.addEventListener("lostpointercapture", () => {
      this.root.toggleAttribute("data-resizing", false);
    });
    grip.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: STEP_PX, ArrowRight: -STEP_PX }[event.key];
      if (step) this.resize(this.panel.offsetWidth + step);
    });
  }

  /** @param {number} width in pixels; 0 leaves the style sheet's own */
  resize(width) {
    if (!width) return;
    const kept = Math.round(Math.max(MIN_PX, width));
    this.root.style.setProperty("--panel-width", `${kept}px`);
    localStorage.setItem(WIDTH_KEY, String(kept));
  }
}
