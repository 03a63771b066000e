/**
 * What was asked on this page, as its questions say it.
 */

/**
 * @param {Element} element something in a question, or in an answer
 * @returns {string} the question, or the one that it answers
 */
export function questionOf(element) {
  const question = element.closest(".question") ?? element.closest(".answer")?.previousElementSibling;
  return question?.querySelector(".question-text")?.textContent ?? "";
}

/**
 * @param {ParentNode} thread
 * @returns {string[]} oldest first
 */
export function questionsIn(thread) {
  const texts = thread.querySelectorAll(".question-text");
  return [...texts].map((each) => each.textContent ?? "");
}
