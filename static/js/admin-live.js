/**
 * What pages of the administration that ask for news have in common: they say what has changed,
 * and whoever was signed out meanwhile is led to sign in, instead of seeing that page in place of
 * the news.
 */

import "./announce.js";

document.body.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = /** @type {CustomEvent} */ (event);
  if (!detail.xhr.responseURL.includes("/login/")) return;
  detail.shouldSwap = false;
  // Where files are being sent, their rows say so.
  if (!document.querySelector("form.upload")) location.reload();
});
