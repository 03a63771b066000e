/**
 * Names, for people who hear the page, what Django's widgets leave without a name.
 */

import { gettext } from "./translation.js";

// Widgets are made when the page is ready, and again for rows that are added.
new MutationObserver(nameAll).observe(document.body, { childList: true, subtree: true });
nameAll();

// The field that a list opens with is made only then.
document.addEventListener("focusin", (event) => {
  const field = event.target;
  if (field instanceof HTMLInputElement && field.matches(".select2-search__field")) {
    field.ariaLabel ??= gettext("Search");
  }
});

function nameAll() {
  for (const select of document.querySelectorAll("select.admin-autocomplete")) {
    nameChoice(/** @type {HTMLSelectElement} */ (select));
  }
  for (const field of document.querySelectorAll(".datetime input")) {
    field.ariaLabel = field.previousSibling?.textContent?.trim().replace(/:$/, "") ?? null;
  }
  for (const icon of document.querySelectorAll(".help-tooltip")) icon.setAttribute("role", "img");
  for (const link of document.querySelectorAll("#changelist-filter li a")) {
    if (!link.textContent?.trim()) link.textContent = gettext("(none)");
  }
}

/** @param {HTMLSelectElement} select behind a widget of Select2 */
function nameChoice(select) {
  const widget = select.nextElementSibling;
  const label = select.labels?.[0];
  if (!widget || !label) return;
  const name = label.textContent?.trim().replace(/:$/, "") ?? "";
  const field = widget.querySelector(".select2-search__field");
  if (field) field.ariaLabel = name;
  const rendered = widget.querySelector(".select2-selection__rendered");
  // A list with what is no item in it, or a field for text that is none.
  rendered?.setAttribute("role", "none");
  rendered?.removeAttribute("aria-readonly");
  const box = widget.querySelector(".select2-selection--single");
  if (!box || !rendered) return;
  label.id ||= `${select.id}-label`;
  box.setAttribute("aria-labelledby", `${label.id} ${rendered.id}`);
}
