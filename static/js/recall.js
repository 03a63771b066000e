/**
 * Arrow up in an empty question field brings back what was asked before, as in a shell.
 */

/**
 * @param {HTMLTextAreaElement} input
 * @param {() => string[]} asked the questions of the conversation, oldest first
 */
export function recallQuestions(input, asked) {
  /** @type {number | null} which one is shown */
  let shown = null;

  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!step) return;
    const questions = asked();
    // Who has changed it is writing, and moves the cursor.
    if (shown !== null && input.value !== questions[shown]) shown = null;
    if (shown === null && (input.value || step > 0)) return;
    const next = (shown ?? questions.length) + step;
    if (next < 0) return;
    event.preventDefault();
    shown = next < questions.length ? next : null;
    input.value = shown === null ? "" : questions[shown];
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}
