/**
 * The questions and answers on the page: how they are added, and what the server shows of them.
 */

/** The list of turns, oldest first. */
export class Thread {
  /**
   * @param {HTMLElement} element
   * @param {(path: string) => string} url addresses below the chat's own
   */
  constructor(element, url) {
    this.element = element;
    this.url = url;
  }

  /**
   * Add a question.
   * @param {string} text
   */
  question(text) {
    const question = this.clone("question");
    /** @type {HTMLElement} */ (question.querySelector(".question-text")).textContent = text;
  }

  /**
   * Add a question that the server has.
   * @param {string | null} message its id
   */
  storedQuestion(message) {
    this.load(this.clone("question"), message, ".question");
  }

  /**
   * Add an answer that has not begun.
   * @param {string} [name] of the assistant that answers; the conversation's if it is not said
   */
  answer(name) {
    const answer = this.clone("answer");
    if (name) /** @type {HTMLElement} */ (answer.querySelector(".answer-name")).textContent = name;
    return answer;
  }

  /**
   * Show a part of a message as the server does, in the place of `target`.
   * @param {Element} target
   * @param {string | null | undefined} message its id
   * @param {string} select
   */
  load(target, message, select) {
    const url = this.url(`messages/${message}/`);
    window.htmx.ajax("GET", url, { source: target, target, select, swap: "outerHTML" });
  }

  /** @param {string} name */
  clone(name) {
    const template = /** @type {HTMLTemplateElement} */ (document.getElementById(`${name}-template`));
    const copy = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
    const element = /** @type {HTMLElement} */ (copy.firstElementChild);
    this.element.append(copy);
    return element;
  }
}
