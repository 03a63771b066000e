/**
 * The chat page: puts its features together.
 */

import { CitationCard } from "./card.js";
import { Choice } from "./choice.js";
import { citedMarkdown } from "./cited-markdown.js";
import { copyText } from "./clipboard.js";
import { Composer } from "./composer.js";
import { Conversation } from "./conversation.js";
import { sayWhatFails } from "./failed-requests.js";
import { forgetKept, Kept } from "./kept.js";
import { awaitSupport } from "./late-support.js";
import { linkTo } from "./message-link.js";
import { SourcePanel } from "./panel.js";
import { questionOf, questionsIn } from "./questions.js";
import { recallQuestions } from "./recall.js";
import { followAnswers } from "./scrolling.js";
import { sidebar } from "./sidebar.js";
import { chooseTheme } from "./theme.js";
import { toasts } from "./toast.js";
import { welcome } from "./welcome.js";

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
const kept = new Kept(root.dataset.person ?? "");
const composer = new Composer(/** @type {HTMLFormElement} */ (the("composer")), kept);
const choice = new Choice(the("choice"));
const conversation = new Conversation(root, composer, choice, kept);
const panel = new SourcePanel(root, the("panel"));
const card = new CitationCard(the("messages"), the("card"), (mark) => {
  return conversation.turnOf(mark)?.citations[Number(mark.dataset.ordinal)];
});

// The focus that comes back to the mark was not meant to open its card.
the("panel").addEventListener("panel:closed", () => card.close());

composer.connect({
  onAsk: (text) => conversation.ask(text),
  onStop: () => conversation.stop(),
  onPause: (text) => conversation.lookAhead(text),
  conversation: () => conversation.id,
});
recallQuestions(composer.input, () => questionsIn(the("thread")));
choice.recall(kept, conversation.id);
choice.connect(() => choice.keep(kept, conversation.id));
welcome(root, choice);
sidebar(root);
chooseTheme();
toasts();
sayWhatFails();
followAnswers(root);
awaitSupport(
  the("thread"),
  (element) => conversation.turnOf(element),
  (message) => conversation.stored(message),
);
composer.ready();

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const element = /** @type {HTMLElement | null} */ (
    event.target.closest(
      ".cite, [data-ask], [data-ask-again], [data-search-everything], [data-continue], [data-edit], [data-way='new'], [data-copy], [data-copy-link]",
    )
  );
  if (!element) return;
  if (element.matches(".cite")) openCitation(element);
  else if (element.matches("[data-ask]")) {
    event.preventDefault(); // without scripts it sends the form
    conversation.ask(element.dataset.ask ?? "");
  } else if (element.matches("[data-ask-again]")) conversation.askAgain(element);
  else if (element.matches("[data-search-everything]")) {
    choice.everything();
    conversation.askAgain(element);
  } else if (element.matches("[data-continue]")) {
    conversation.continueAfter(element, element.dataset.continue ?? "");
  } else if (element.matches("[data-edit]")) conversation.edit(element);
  else if (element.matches("[data-way]")) conversation.takeAlong(element);
  else copy(element);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector("dialog[open], .menu:popover-open")) return;
  if (choice.close() || card.close() || panel.close()) return;
  if (root.hasAttribute("data-sheet")) root.removeAttribute("data-sheet");
  // A key that is held down would close a layer, and go on to stop.
  else if (!composer.leave() && !event.repeat) conversation.stop();
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form instanceof HTMLFormElement && form.matches("[data-sign-out]")) forgetKept();
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
  if (!turn) return questionOf(button);
  if (!button.matches("[data-copy-link]")) return citedMarkdown(turn.text.text, turn.citations);
  return linkTo(conversation.url(`c/${conversation.id}/`), turn.element.dataset.message ?? "");
}
