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

  function toggle() {
    if (!wide.matches) {
      root.toggleAttribute("data-sheet");
      return;
    }
    const closed = root.toggleAttribute("data-sidebar-closed");
    remember("sidebar", closed ? "closed" : "open");
  }

  function refresh() {
    const { base, conversation } = root.dataset;
    const url = `${base}sidebar/?current=${conversation ?? ""}`;
    window.htmx.ajax("GET", url, { source: list, target: list, swap: "innerHTML" });
  }
}
