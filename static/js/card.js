/**
 * The card of a citation mark, on hover and focus: what is cited, the sentence, and how
 * well it supports the text.
 */

/** @import { CitationData, Support } from "./types.d.ts" */

import { SUPPORT } from "./citations.js";
import { fill, gettext } from "./translation.js";

const OPEN_MS = 150;
const CLOSE_MS = 120;
const GAP_PX = 6;

/** One card for the page, shown beside the mark that is pointed at. */
export class CitationCard {
  /**
   * @param {HTMLElement} root where the marks are
   * @param {HTMLElement} card
   * @param {(mark: HTMLElement) => CitationData | undefined} citationOf
   */
  constructor(root, card, citationOf) {
    this.card = card;
    this.support = document.createElement("p");
    this.support.className = "card-support";
    card.append(this.support);
    this.citationOf = citationOf;
    /** @type {HTMLElement | null} */
    this.mark = null;
    this.timer = 0;
    root.addEventListener("pointerover", (event) => {
      if (event.pointerType !== "touch") this.soon(markAt(event), OPEN_MS);
    });
    root.addEventListener("pointerout", (event) => {
      if (markAt(event)) this.leave();
    });
    root.addEventListener("focusin", (event) => {
      const mark = markAt(event);
      if (mark?.matches(":focus-visible")) this.soon(mark, 0);
    });
    root.addEventListener("focusout", (event) => markAt(event) && this.close());
    card.addEventListener("pointerenter", () => clearTimeout(this.timer));
    card.addEventListener("pointerleave", () => this.leave());
    root.addEventListener("scroll", () => this.scrolled(), { capture: true, passive: true });
  }

  /**
   * @param {HTMLElement | null} mark
   * @param {number} delay
   */
  soon(mark, delay) {
    if (!mark) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(mark), delay);
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.close(), CLOSE_MS);
  }

  /** @param {HTMLElement} mark */
  open(mark) {
    const citation = this.citationOf(mark);
    if (!citation || !mark.isConnected) return;
    this.close();
    this.mark = mark;
    mark.setAttribute("aria-describedby", this.card.id);
    this.fill(".card-title", citation.title);
    this.fill(".card-page", citation.page ? fill(gettext("Page %(page)s"), { page: citation.page }) : "");
    this.fill(".card-quote", citation.quote);
    this.fillSupport(citation.support);
    this.card.showPopover();
    this.place(mark);
  }

  /**
   * Above the mark's line, or below it where there is no room: never over it.
   * @param {HTMLElement} mark
   */
  place(mark) {
    const at = mark.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.card;
    const left = Math.max(8, Math.min(at.left + at.width / 2 - width / 2, innerWidth - width - 8));
    const above = at.top - height - GAP_PX;
    this.card.style.left = `${left}px`;
    this.card.style.top = `${above >= 8 ? above : at.bottom + GAP_PX}px`;
  }

  /** The mark moves: what the pointer left goes, what the keyboard came to is followed. */
  scrolled() {
    if (this.mark?.matches(":focus-visible")) this.place(this.mark);
    else if (this.mark) this.close();
  }

  /** @returns {boolean} whether it was open */
  close() {
    clearTimeout(this.timer);
    if (!this.mark) return false;
    this.mark.removeAttribute("aria-describedby");
    this.mark = null;
    this.card.hidePopover();
    return true;
  }

  /** @param {Support | null | undefined} support unknown until it has been checked */
  fillSupport(support) {
    this.fill(".card-support", support ? SUPPORT[support] : "");
    this.support.dataset.support = support ?? "";
  }

  /**
   * @param {string} selector
   * @param {string} text
   */
  fill(selector, text) {
    const element = /** @type {HTMLElement} */ (this.card.querySelector(selector));
    element.textContent = text;
    element.hidden = !text;
  }
}

/** @param {Event} event */
function markAt(event) {
  return event.target instanceof Element
    ? /** @type {HTMLElement | null} */ (event.target.closest(".cite"))
    : null;
}
