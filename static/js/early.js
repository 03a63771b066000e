/**
 * Loaded before anything else, and no module: takes what is sent before the page's scripts have
 * come, so that Enter breaks no line then and nothing leaves the page. The composer sends it once it
 * is ready; where the scripts do not come, the form goes as it does without them. A new conversation
 * is begun in its field.
 */

"use strict";

{
  // Some browsers tell only by this code that Enter ends a word that is being composed.
  const COMPOSING_KEY = 229;

  /** @returns {HTMLFormElement | null} the form, while it is not known who takes care of it */
  const unattended = () => {
    const loading = document.readyState !== "complete";
    return loading ? document.querySelector("#composer:not([data-ready])") : null;
  };

  /**
   * @param {HTMLFormElement} form
   * @param {boolean} held whether it is sent as soon as that can be done
   */
  const hold = (form, held) => {
    form.toggleAttribute("data-held", held);
    const notice = document.getElementById("composer-held");
    if (notice) notice.hidden = !held;
  };

  /** Not by the field's attribute: that scrolls to it, away from what is to be read first. */
  const focus = () => {
    /** @type {HTMLTextAreaElement | null} */
    const field = document.querySelector("[data-new] #question");
    if (document.activeElement === document.body) field?.focus({ preventScroll: true });
  };

  document.addEventListener("readystatechange", focus, { once: true });

  document.addEventListener("keydown", (event) => {
    const form = unattended();
    const composing = event.isComposing || event.keyCode === COMPOSING_KEY;
    if (event.key !== "Enter" || event.shiftKey || composing) return;
    if (!form || event.target !== form.elements.namedItem("text")) return;
    event.preventDefault();
    form.requestSubmit();
  });

  document.addEventListener("submit", (event) => {
    const form = unattended();
    if (!form || event.target !== form) return;
    event.preventDefault();
    const field = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("text"));
    hold(form, field.value.trim() !== "");
  });

  // Who writes on has not finished.
  document.addEventListener("input", () => {
    const form = unattended();
    if (form) hold(form, false);
  });

  // All scripts have run, or failed to.
  window.addEventListener("load", () => {
    /** @type {HTMLFormElement | null} */ (document.querySelector("#composer[data-held]"))?.submit();
  });
}
