/**
 * The choice of the assistant that is asked, and of the collections it searches.
 */

/** @import { Kept } from "./kept.js" */

/**
 * @typedef {object} Chosen what a question says of it; nothing where the page's own choice holds
 * @property {string} [assistant]
 * @property {string[]} [collections]
 */

/** The menu in the question form; where there is nothing to choose it is not on the page. */
export class Choice {
  /** @param {HTMLDetailsElement | null} menu */
  constructor(menu) {
    this.menu = menu;
    this.assistants = /** @type {HTMLInputElement[]} */ (inputs(menu, "assistant"));
    this.collections = /** @type {HTMLInputElement[]} */ (inputs(menu, "collections"));
    // Who answers if a question names nobody.
    this.own = this.assistants.find((each) => each.defaultChecked)?.value ?? "";
    this.show();
  }

  /** @param {() => void} onChange */
  connect(onChange) {
    this.menu?.addEventListener("change", () => {
      this.show();
      onChange();
    });
    document.addEventListener("click", (event) => {
      if (this.menu?.open && !this.menu.contains(/** @type {Node} */ (event.target))) this.close();
    });
  }

  /** @returns {HTMLInputElement | undefined} */
  get assistant() {
    return this.assistants.find((each) => each.checked);
  }

  /** @returns {Chosen} */
  get chosen() {
    const assistant = this.assistant?.value ?? "";
    const collections = this.offered().filter((each) => each.checked);
    return {
      ...(assistant && assistant !== this.own && { assistant }),
      ...(collections.length && { collections: collections.map((each) => each.value) }),
    };
  }

  /**
   * Choose as it was chosen before; what can no longer be chosen is left out.
   * @param {Chosen} chosen
   */
  set chosen({ assistant = this.own, collections = [] }) {
    const found = this.assistants.find((each) => each.value === assistant);
    if (found) found.checked = true;
    for (const each of this.collections) each.checked = collections.includes(each.value);
    this.show();
  }

  /** Choose no collections: all are searched. It is remembered like any other choice. */
  everything() {
    for (const each of this.collections) each.checked = false;
    this.menu?.dispatchEvent(new Event("change"));
  }

  /**
   * Remember, for a conversation, who is asked and where it is searched.
   * @param {Kept} kept
   * @param {string | null} conversation null for a new one
   */
  keep(kept, conversation) {
    const { collections } = this.chosen;
    const chosen = { ...(this.assistant && { assistant: this.assistant.value }), collections };
    kept.set("choice", conversation, JSON.stringify(chosen));
  }

  /**
   * Choose as it was chosen in a conversation before.
   * @param {Kept} kept
   * @param {string | null} conversation
   */
  recall(kept, conversation) {
    const found = kept.get("choice", conversation);
    if (found) this.chosen = JSON.parse(found);
  }

  /** A conversation has begun, with the assistant that is chosen now. */
  began() {
    this.own = this.assistant?.value ?? this.own;
  }

  /** @returns {boolean} whether it was open */
  close() {
    if (!this.menu?.open) return false;
    const inside = this.menu.contains(document.activeElement);
    this.menu.open = false;
    if (inside) this.menu.querySelector("summary")?.focus();
    return true;
  }

  /** @returns {HTMLInputElement[]} the collections that the chosen assistant can search */
  offered() {
    /** @type {string[]} */
    const names = JSON.parse(this.assistant?.dataset.collections || "[]");
    return this.collections.filter((each) => !names.length || names.includes(each.value));
  }

  /** Say what is chosen, and offer what can be. */
  show() {
    if (!this.menu) return;
    const offered = this.offered();
    for (const each of this.collections) {
      /** @type {HTMLElement} */ (each.closest("label")).hidden = !offered.includes(each);
    }
    const field = /** @type {HTMLElement | null} */ (this.menu.querySelector(".choice-collections"));
    if (field) field.hidden = offered.length < 2;
    const { all = "", some = "" } = this.menu.dataset;
    const names = this.chosen.collections ?? [];
    const scope = names.length > 1 ? some.replace("{n}", String(names.length)) : (names[0] ?? all);
    /** @type {HTMLElement} */ (this.menu.querySelector(".choice-scope")).textContent = scope;
    if (this.assistant) {
      const name = /** @type {HTMLElement} */ (this.menu.querySelector(".choice-name"));
      name.textContent = this.assistant.value;
    }
  }
}

/**
 * @param {HTMLElement | null} menu
 * @param {string} name
 */
function inputs(menu, name) {
  return [...(menu?.querySelectorAll(`input[name="${name}"]`) ?? [])];
}
