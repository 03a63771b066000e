/**
 * The list of conversations: collapsed or not, a sheet on small screens, always current.
 */

import { remember } from "./remember.js";

/** @param {HTMLElement} root */
export function sidebar(root) {
  const list = /** @type {HTMLElement} */ (root.querySelector("#conversations"));
  const wide = matchMedia("(min-width: 1100px)");

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    if (event.target.closest("[data-sidebar-toggle]")) toggle();
  });
  root.addEventListener("conversation:created", () => {
    refresh();
    // A guest who signs in comes back to the conversation.
    const link = /** @type {HTMLAnchorElement | null} */ (root.querySelector(".sign-in"));
    if (link) link.search = `?next=${encodeURIComponent(location.pathname)}`;
  });
  list.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !(event.target instanceof HTMLInputElement)) return;
    event.stopPropagation();
    refresh();
  });
  list.addEventListener("htmx:afterSwap", () => {
    const field = /** @type {HTMLInputElement | null} */ (list.querySelector(".rename input"));
    field?.select();
  });
  list.addEventListener("submit", (event) => {
    // The focus of the field is what comes back, not that of its button.
    const form = /** @type {HTMLFormElement} */ (event.target);
    form.querySelector("input")?.focus();
  });
  // However the whole list is shown anew, it is as long as it was, and where it was.
  root.addEventListener("htmx:configRequest", (event) => {
    const { target, parameters } = /** @type {CustomEvent} */ (event).detail;
    if (target === list) parameters.rows = list.querySelectorAll("[data-id]").length - pinned();
  });
  list.addEventListener("htmx:beforeSwap", (event) => {
    const { shouldSwap } = /** @type {CustomEvent} */ (event).detail;
    if (event.target !== list || !shouldSwap) return;
    const { scrollTop } = list;
    list.addEventListener("htmx:afterSwap", () => (list.scrollTop = scrollTop), { once: true });
  });

  function toggle() {
    if (!wide.matches) {
      root.toggleAttribute("data-sheet");
      return;
    }
    const closed = root.toggleAttribute("data-sidebar-closed");
    remember("sidebar", closed ? "closed" : "open");
  }

  function pinned() {
    return list.querySelectorAll("[data-id] [aria-pressed='true']").length;
  }

  function refresh() {
    const { base, conversation } = root.dataset;
    const url = `${base}sidebar/?current=${conversation ?? ""}`;
    window.htmx.ajax("GET", url, { source: list, target: list, swap: "innerHTML" });
  }
}
