/**
 * Asks before what cannot be undone, in a dialog of the page's own.
 */

/** @param {HTMLDialogElement} dialog */
export function confirmRequests(dialog) {
  const question = /** @type {HTMLElement} */ (dialog.querySelector("p"));
  /** @type {(() => void) | null} */
  let go = null;

  document.addEventListener("htmx:confirm", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    if (!detail.question) return;
    event.preventDefault();
    question.textContent = detail.question;
    go = () => detail.issueRequest(true);
    dialog.returnValue = "";
    dialog.showModal();
  });
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "yes") go?.();
    go = null;
  });
}
