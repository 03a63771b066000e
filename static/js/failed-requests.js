/**
 * Says what a person wanted done and could not be, in words. What the page asks for by itself, again
 * and again, fails without a word; what was written stays where it is.
 */

import { calm, warn } from "./toast.js";
import { gettext } from "./translation.js";

/** The events of a request that failed. */
export const FAILURES = ["htmx:sendError", "htmx:responseError", "htmx:timeout"];

// What a person does, among all that makes htmx send something; who scrolls down waits for more.
const BY_PERSON = ["click", "submit", "intersect"];

/** Listens to every request of htmx. */
export function sayWhatFails() {
  listen("htmx:beforeRequest", calm);
  listen("htmx:sendError", (pressed) => {
    warn(gettext("The server cannot be reached. Try again when the connection is back."), pressed);
  });
  listen("htmx:timeout", (pressed) => {
    const words = gettext(
      "The server did not answer in time. Reload the page to see whether it was done, or try again.",
    );
    warn(words, pressed);
  });
  listen("htmx:responseError", (pressed, xhr) => warn(refusal(xhr), pressed));
}

/**
 * @param {string} name of an event
 * @param {(pressed: Element, xhr: XMLHttpRequest) => void} handler
 */
function listen(name, handler) {
  document.addEventListener(name, (event) => {
    const { requestConfig, xhr } = /** @type {CustomEvent} */ (event).detail;
    if (!BY_PERSON.includes(requestConfig.triggeringEvent?.type)) return;
    handler(/** @type {Element} */ (event.target), xhr);
  });
}

/** @param {XMLHttpRequest} xhr what was answered with an error */
function refusal(xhr) {
  const plain = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
  if (xhr.status === 422 && plain && xhr.responseText) return xhr.responseText;
  switch (xhr.status) {
    case 401:
    case 403:
      return gettext("You may not do this any more. Reload the page, and sign in if it asks you to.");
    case 404:
    case 410:
      return gettext("This is no longer there. Reload the page to see what is.");
    case 429:
      return gettext("That was too much at once. Wait a moment, then try again.");
    case 502:
    case 503:
    case 504:
      return gettext("The server is not available at the moment. Try again in a moment.");
  }
  if (xhr.status < 500) return gettext("This could not be done. Reload the page and try again.");
  return gettext("Something went wrong on the server, and this was not done. Try again in a moment.");
}
