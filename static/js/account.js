/**
 * The pages of signing in and of a person's account: copying, and telling when a passkey failed.
 */

import { copyText } from "./clipboard.js";
import { gettext } from "./translation.js";

const COPIED_MS = 2000;

document.addEventListener("click", async (event) => {
  if (!(event.target instanceof HTMLButtonElement) || !event.target.dataset.copy) return;
  const button = event.target;
  const field = document.getElementById(event.target.dataset.copy);
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
  try {
    await copyText(field.value);
  } catch {
    field.select(); // the browser does not let scripts copy: it is a keystroke away
    return;
  }
  const label = button.textContent;
  const copied = gettext("Copied");
  if (label === copied) return;
  button.textContent = copied;
  setTimeout(() => (button.textContent = label), COPIED_MS);
});

// By allauth's scripts, when the person cancels it too.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const notice = document.querySelector("[data-passkey-error]");
  if (notice instanceof HTMLElement) notice.hidden = false;
});

// They belong to a site's name, so that an address of numbers has none.
const isNamed = !/^[\d.]+$|^\[/.test(location.hostname);
if (!isNamed || !window.isSecureContext || !("PublicKeyCredential" in window)) {
  for (const element of document.querySelectorAll("[data-needs-passkeys], [data-no-passkeys]")) {
    if (element instanceof HTMLElement) element.hidden = !("noPasskeys" in element.dataset);
  }
}
