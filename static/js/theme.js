/**
 * Light, dark, or as the system has it.
 */

import { remember } from "./remember.js";

/** Let the `theme` radio buttons set the page's colour scheme. */
export function chooseTheme() {
  document.addEventListener("change", (event) => {
    if (!(event.target instanceof HTMLInputElement) || event.target.name !== "theme") return;
    document.documentElement.dataset.theme = event.target.value;
    remember("theme", event.target.value);
  });
}
