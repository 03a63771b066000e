/**
 * A page of a PDF with a passage marked on it: drawn to the width there is, zoomed, turned.
 */

/** @import { MarkedPage, PdfDocument, PdfDrawing, PdfLibrary } from "./pdf.d.ts" */

import { marks } from "./panel-marks.js";
import { openPdf } from "./panel-pdf.js";

const ZOOMS = [1, 1.25, 1.5, 2, 3];
// Larger canvases some devices do not draw.
const MAX_PIXELS = 2 ** 24;
const SETTLED_MS = 150;

/** Draws into a `.page-view`; its `data-state` is `loading`, then `shown` or `failed`. */
export class PageView {
  /**
   * @param {HTMLElement} view
   * @param {HTMLElement} bar with the buttons
   * @param {() => void} onFailed the page cannot be shown
   */
  constructor(view, bar, onFailed) {
    this.view = view;
    this.bar = bar;
    this.onFailed = onFailed;
    this.scroll = /** @type {HTMLElement} */ (view.querySelector(".page-scroll"));
    this.sheet = /** @type {HTMLElement} */ (view.querySelector(".page-sheet"));
    /** @type {MarkedPage[]} */
    this.marked = JSON.parse(view.querySelector("script")?.textContent || "[]");
    this.number = this.marked[0]?.number ?? 1;
    this.zoom = 0;
    this.turn = 0;
    this.closed = false;
    /** @type {PdfDocument | null} */
    this.pdf = null;
    /** @type {PdfLibrary["TextLayer"] | null} */
    this.TextLayer = null;
    /** @type {PdfDrawing | null} */
    this.drawing = null;
    this.width = 0;
    this.timer = 0;
    this.resized = new ResizeObserver(() => this.fit());
    bar.addEventListener("click", (event) => this.pressed(event));
  }

  /** Open the document and show the page. */
  async open() {
    try {
      const { pdf, TextLayer } = await openPdf(this.view.dataset);
      this.pdf = pdf;
      this.TextLayer = TextLayer;
    } catch (error) {
      this.fail(error);
      return;
    }
    if (this.closed) return;
    this.number = Math.min(this.number, this.pdf.numPages);
    this.width = this.scroll.clientWidth;
    this.resized.observe(this.scroll);
    await this.show();
  }

  close() {
    this.closed = true;
    this.turn += 1;
    clearTimeout(this.timer);
    this.resized.disconnect();
    this.drawing?.cancel();
  }

  /** @param {MouseEvent} event */
  pressed(event) {
    if (!(event.target instanceof Element)) return;
    const button = /** @type {HTMLElement | null} */ (event.target.closest("button"));
    const { pageStep, zoom } = button?.dataset ?? {};
    if (!this.pdf || button?.ariaDisabled === "true") return;
    if (pageStep) {
      this.number += Number(pageStep);
      this.show();
    } else if (zoom) {
      this.zoom = zoom === "width" ? 0 : this.zoom + (zoom === "in" ? 1 : -1);
      this.show({ keep: true });
    }
  }

  /** Draw again, once the width has settled. */
  fit() {
    if (this.scroll.clientWidth === this.width) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.scroll.clientWidth && this.show({ keep: true }), SETTLED_MS);
  }

  /** @param {{ keep?: boolean }} options whether what is in the middle stays there */
  async show({ keep = false } = {}) {
    const turn = (this.turn += 1);
    this.drawing?.cancel();
    this.setButtons();
    try {
      const drawn = await this.draw();
      if (turn !== this.turn) return;
      const middle = keep ? this.middle() : null;
      this.place(drawn);
      if (middle) this.scrollTo(middle);
      else this.toMark();
      this.view.dataset.state = "shown";
    } catch (error) {
      // What was cancelled gave way to a newer one.
      if (turn === this.turn) this.fail(error);
    }
  }

  /** @param {unknown} error */
  fail(error) {
    if (this.closed) return;
    console.info("The page cannot be shown.", error);
    this.view.dataset.state = "failed";
    this.close();
    this.onFailed();
  }

  async draw() {
    const { pdf, TextLayer } = this;
    if (!pdf || !TextLayer) throw new Error("No document is open.");
    const page = await pdf.getPage(this.number);
    this.width = this.scroll.clientWidth;
    const style = getComputedStyle(this.scroll);
    const room = this.width - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const scale = (room / page.getViewport({ scale: 1 }).width) * /** @type {number} */ (ZOOMS[this.zoom]);
    const viewport = page.getViewport({ scale });
    const { width, height } = viewport;
    const ratio = Math.min(devicePixelRatio || 1, Math.sqrt(MAX_PIXELS / (width * height)));
    const canvas = document.createElement("canvas");
    canvas.width = Math.floor(width * ratio);
    canvas.height = Math.floor(height * ratio);
    this.drawing = page.render({ canvas, viewport, transform: [ratio, 0, 0, ratio, 0, 0] });
    const [text] = await Promise.all([page.getTextContent(), this.drawing.promise]);
    const container = document.createElement("div");
    container.className = "page-text";
    const layer = new TextLayer({ textContentSource: text, container, viewport });
    await layer.render();
    return { canvas, container, pieces: layer.textDivs, viewport };
  }

  /** @param {Awaited<ReturnType<PageView["draw"]>>} drawn */
  place({ canvas, container, pieces, viewport }) {
    this.sheet.style.width = `${viewport.width}px`;
    this.sheet.style.height = `${viewport.height}px`;
    this.sheet.style.setProperty("--total-scale-factor", String(viewport.scale));
    this.sheet.replaceChildren(canvas, container);
    const wanted = this.marked.find((page) => page.number === this.number);
    const layer = wanted ? marks(this.sheet, pieces, wanted) : null;
    if (layer) container.before(layer);
    this.view.dataset.page = String(this.number);
    this.view.dataset.marked = layer?.dataset.marked ?? "none";
    this.say(wanted, layer);
  }

  /**
   * @param {MarkedPage | undefined} wanted
   * @param {HTMLElement | null} layer
   */
  say(wanted, layer) {
    const unmarked = /** @type {HTMLElement} */ (this.view.querySelector(".page-unmarked"));
    unmarked.hidden = !wanted || (layer !== null && (!wanted.quote || layer.dataset.marked === "quote"));
    const said = /** @type {HTMLElement} */ (this.view.querySelector("[data-page-said]"));
    said.textContent = layer?.dataset.marked === "quote" ? said.dataset.marked ?? "" : "";
  }

  toMark() {
    const mark =
      this.sheet.querySelector(".page-mark-quote") ?? this.sheet.querySelector(".page-mark");
    if (mark) mark.scrollIntoView({ block: "center", inline: "nearest" });
    else this.scroll.scrollTo(0, 0);
  }

  /** What part of the page is in the middle of what is seen. */
  middle() {
    const { scrollLeft, scrollTop, clientWidth, clientHeight, scrollWidth, scrollHeight } = this.scroll;
    return {
      x: (scrollLeft + clientWidth / 2) / scrollWidth,
      y: (scrollTop + clientHeight / 2) / scrollHeight,
    };
  }

  /** @param {{ x: number, y: number }} middle */
  scrollTo({ x, y }) {
    const { clientWidth, clientHeight, scrollWidth, scrollHeight } = this.scroll;
    this.scroll.scrollTo(x * scrollWidth - clientWidth / 2, y * scrollHeight - clientHeight / 2);
  }

  setButtons() {
    const count = this.pdf?.numPages ?? 0;
    /** @type {Record<string, boolean>} */
    const possible = {
      "[data-page-step='-1']": this.number > 1,
      "[data-page-step='1']": this.number < count,
      "[data-zoom='out']": this.zoom > 0,
      "[data-zoom='width']": this.zoom > 0,
      "[data-zoom='in']": this.zoom < ZOOMS.length - 1,
    };
    for (const [selector, can] of Object.entries(possible)) {
      const button = /** @type {HTMLButtonElement} */ (this.bar.querySelector(selector));
      // With the property, a button that is pressed to the end would lose the focus.
      button.setAttribute("aria-disabled", String(!can));
      button.disabled = false;
    }
    for (const [name, value] of Object.entries({ number: this.number, count })) {
      const place = this.bar.querySelector(`[data-page-${name}]`);
      if (place) place.textContent = String(value);
    }
  }
}
