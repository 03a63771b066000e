/**
 * What a new conversation begins with: the chosen assistant's greeting and suggested questions.
 */

/** @import { Choice } from "./choice.js" */

/**
 * @param {HTMLElement} root
 * @param {Choice} choice
 */
export function welcome(root, choice) {
  const greeting = /** @type {HTMLElement | null} */ (root.querySelector(".welcome h2"));
  const status = () => root.querySelector(".document-status");
  if (!greeting) return;
  let shown = choice.own;

  const show = () => {
    const chosen = choice.assistant;
    if (!chosen || chosen.value === shown || !root.hasAttribute("data-new")) return;
    shown = chosen.value;
    greeting.textContent = chosen.dataset.greeting || (greeting.dataset.greeting ?? "");
    const url = `${root.dataset.base}documents/status/?assistant=${encodeURIComponent(shown)}`;
    window.htmx.ajax("GET", url, { source: root, target: status(), swap: "outerHTML" });
  };

  choice.menu?.addEventListener("change", show);
  show();
}
