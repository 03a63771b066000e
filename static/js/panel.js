/**
 * The source panel: opens a passage beside the answer, as a page or as text; gives focus back.
 */

import { FAILURES } from "./failed-requests.js";
import { PageView } from "./panel-page.js";
import { closePdf } from "./panel-pdf.js";
import { resizable } from "./panel-width.js";

const SHEET = matchMedia("(max-width: 699.9px)");

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
    /** @type {string} the id of what was pressed in the panel itself */
    this.pressed = "";
    /** @type {PageView | null} */
    this.page = null;
    document.addEventListener("click", (event) => {
      if (!(event.target instanceof Element)) return;
      const opener = /** @type {HTMLElement | null} */ (event.target.closest("[data-panel]"));
      if (opener) this.open(opener.dataset.panel ?? "", opener);
      else if (event.target.closest("[data-panel-close]")) this.close();
      else if (event.target.closest("[data-show-text]")) this.toggle();
    });
    this.body.addEventListener("htmx:afterSwap", (event) => {
      if (event.target === this.body) this.shown();
    });
    for (const name of FAILURES) {
      this.body.addEventListener(name, (event) => event.target === this.body && this.failed());
    }
    this.growing();
    SHEET.addEventListener("change", () => this.cover());
    resizable(root, panel);
  }

  /**
   * @param {string} url
   * @param {HTMLElement} opener gets the focus back
   */
  open(url, opener) {
    const inside = this.panel.contains(opener);
    if (!inside) this.opener = opener;
    this.pressed = inside ? opener.id : "";
    this.panel.inert = false;
    this.panel.dataset.state = "loading";
    this.panel.ariaBusy = "true";
    this.root.toggleAttribute("data-panel-open", true);
    this.cover();
    window.htmx.ajax("GET", url, { source: this.body, target: this.body, swap: "innerHTML" });
  }

  shown() {
    this.page?.close();
    this.page = null;
    if (!this.isOpen) {
      // It came when nobody waited for it any more.
      this.body.replaceChildren();
      return;
    }
    this.panel.dataset.state = "shown";
    this.panel.ariaBusy = null;
    const view = /** @type {HTMLElement | null} */ (this.body.querySelector(".page-view"));
    const bar = /** @type {HTMLElement | null} */ (this.body.querySelector(".page-bar"));
    if (view && bar) {
      this.page = new PageView(view, bar, () => this.showText({ failed: true }));
      this.page.open();
    } else {
      this.toPassage();
    }
    this.takeFocus();
  }

  takeFocus() {
    const again = this.pressed ? document.getElementById(this.pressed) : null;
    const target = again && !again.matches(":disabled") ? again : this.body.querySelector("h2");
    /** @type {HTMLElement | null} */ (target)?.focus({ preventScroll: true });
  }

  toPassage() {
    const mark = this.text?.querySelector("mark");
    if (mark) mark.scrollIntoView({ block: "center" });
    else this.text?.querySelector(".passage")?.scrollIntoView({ block: "start" });
  }

  /** Show the text instead of the page, or the page again. */
  toggle() {
    const text = this.body.querySelector(".passage-view[data-view='text']");
    if (!text) this.showText();
    else this.show("page");
  }

  /** @param {{ failed?: boolean }} options whether it is because the page cannot be shown */
  showText({ failed = false } = {}) {
    if (failed) {
      /** @type {HTMLElement} */ (this.body.querySelector("[data-page-failed]")).hidden = false;
      this.body.querySelector("[data-show-text]")?.remove();
    }
    this.show("text");
    this.toPassage();
  }

  /** @param {"page" | "text"} view */
  show(view) {
    const { dataset } = /** @type {HTMLElement} */ (this.body.querySelector(".passage-view"));
    dataset.view = view;
    this.body.querySelector("[data-show-text]")?.setAttribute("aria-pressed", String(view === "text"));
    const bar = /** @type {HTMLElement | null} */ (this.body.querySelector(".page-bar"));
    if (bar) bar.hidden = view === "text";
  }

  /** Keep what is read where it is while more is shown before it, and the focus in place. */
  growing() {
    let below = 0;
    this.body.addEventListener("htmx:beforeSwap", (event) => {
      const text = this.text;
      if (event.target instanceof Element && event.target.id === "text-before" && text) {
        below = text.scrollHeight - text.scrollTop;
      }
    });
    // At once: what is read would be seen to jump otherwise.
    this.body.addEventListener("htmx:afterSwap", () => {
      const text = this.text;
      if (below && text) text.scrollTop = text.scrollHeight - below;
      below = 0;
    });
    this.body.addEventListener("htmx:afterSettle", (event) => {
      const text = this.text;
      if (event.target === this.body || !text) return;
      if (document.activeElement === document.body) text.focus({ preventScroll: true });
    });
  }

  /** @returns {HTMLElement | null} */
  get text() {
    return this.body.querySelector(".excerpt");
  }

  get isOpen() {
    return this.root.hasAttribute("data-panel-open");
  }

  failed() {
    this.panel.dataset.state = "failed";
    this.panel.ariaBusy = null;
    const template = /** @type {HTMLTemplateElement} */ (document.getElementById("panel-failed"));
    this.body.replaceChildren(template.content.cloneNode(true));
    this.body.querySelector("button")?.focus();
  }

  /** As a sheet it lies over the page, which cannot be reached then. */
  cover() {
    for (const part of this.root.querySelectorAll(":scope > .column, :scope > .sidebar")) {
      /** @type {HTMLElement} */ (part).inert = this.isOpen && SHEET.matches;
    }
  }

  /** @returns {boolean} whether it was open */
  close() {
    if (!this.isOpen) return false;
    this.root.toggleAttribute("data-panel-open", false);
    this.cover();
    this.panel.inert = true;
    this.panel.dataset.state = "closed";
    this.panel.ariaBusy = null;
    this.page?.close();
    this.page = null;
    closePdf();
    this.body.replaceChildren();
    this.opener?.focus();
    this.opener = null;
    this.panel.dispatchEvent(new CustomEvent("panel:closed"));
    return true;
  }
}
