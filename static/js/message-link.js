/**
 * Links that open one message of a conversation.
 */

const PREFIX = "#message-";

/** The message that the page's address names, if it is on the page. */
export function linkedMessage() {
  if (!location.hash.startsWith(PREFIX)) return null;
  return document.getElementById(location.hash.slice(1));
}

/**
 * @param {string} conversation the address of its page
 * @param {string} message
 */
export function linkTo(conversation, message) {
  return new URL(`${conversation}${PREFIX}${message}`, location.href).href;
}
