/**
 * The chat page: puts its features together.
 */

import { CitationCard } from "./card.js";
import { citedMarkdown } from "./cited-markdown.js";
import { copyText } from "./clipboard.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { linkTo } from "./message-link.js";
import { SourcePanel } from "./panel.js";
import { followAnswers } from "./scrolling.js";
import { sidebar } from "./sidebar.js";
import { chooseTheme } from "./theme.js";
import { toasts } from "./toast.js";

const COPIED_MS = 1500;

/**
 * @template {HTMLElement} T
 * @param {string} id
 * @returns {T}
 */
function the(id) {
  return /** @type {T} */ (document.getElementById(id));
}

const root = the("chat");
const composer = new Composer(/** @type {HTMLFormElement} */ (the("composer")));
const conversation = new Conversation(root, composer);
const panel = new SourcePanel(root, the("panel"));
const card = new CitationCard(the("messages"), the("card"), (mark) => {
  return conversation.turnOf(mark)?.citations[Number(mark.dataset.ordinal)];
});

// The focus that comes back to the mark was not meant to open its card.
the("panel").addEventListener("panel:closed", () => card.close());

composer.connect({
  onAsk: (text, id) => conversation.begin(text, id),
  onStop: () => conversation.stop(),
  onPause: (text) => conversation.lookAhead(text),
  conversation: () => conversation.id,
});
sidebar(root);
chooseTheme();
toasts();
followAnswers(root);

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const element = /** @type {HTMLElement | null} */ (
    event.target.closest(".cite, [data-ask], [data-ask-again], [data-copy], [data-copy-link]")
  );
  if (!element) return;
  if (element.matches(".cite")) openCitation(element);
  else if (element.matches("[data-ask]")) conversation.ask(element.dataset.ask ?? "");
  else if (element.matches("[data-ask-again]")) conversation.askAgain(element);
  else copy(element);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  if (document.querySelector("dialog[open], .menu:popover-open")) return;
  if (card.close() || panel.close()) return;
  if (root.hasAttribute("data-sheet")) root.removeAttribute("data-sheet");
  else conversation.stop();
});

window.addEventListener("popstate", () => location.reload());

/** @param {HTMLElement} mark */
function openCitation(mark) {
  const message = conversation.turnOf(mark)?.element.dataset.message;
  card.close();
  if (!message) return;
  panel.open(conversation.url(`messages/${message}/citations/${mark.dataset.ordinal}/`), mark);
}

/** @param {HTMLElement} button */
async function copy(button) {
  await copyText(copied(button));
  button.dataset.copied = "";
  setTimeout(() => delete button.dataset.copied, COPIED_MS);
}

/** @param {HTMLElement} button */
function copied(button) {
  const turn = conversation.turnOf(button);
  if (!turn) return button.closest(".question")?.querySelector(".question-text")?.textContent ?? "";
  if (!button.matches("[data-copy-link]")) return citedMarkdown(turn.text.text, turn.citations);
  return linkTo(conversation.url(`c/${conversation.id}/`), turn.element.dataset.message ?? "");
}
