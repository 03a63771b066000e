/**
 * The row of a file or an address while it is on its way; the server's row takes its place.
 */

import { fill, gettext, ngettext } from "./translation.js";

/**
 * @param {string} name
 * @param {number | null} bytes
 * @returns {HTMLTableRowElement} a row with the name, the size and an empty state
 */
export function makeRow(name, bytes) {
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.dir = "auto";
  head.textContent = name;
  const size = document.createElement("td");
  size.textContent = bytes === null ? "" : readableSize(bytes);
  row.append(head, size, document.createElement("td"));
  return row;
}

/** @param {number} bytes */
export function readableSize(bytes) {
  if (bytes < 1024) return fill(ngettext("%(bytes)s byte", "%(bytes)s bytes", bytes), { bytes });
  const units = ["KB", "MB", "GB"];
  let size = bytes / 1024;
  while (size >= 1024 && units.length > 1) {
    size /= 1024;
    units.shift();
  }
  return `${size.toFixed(1)} ${units[0]}`;
}

/** @param {HTMLTableRowElement} row */
export function showWaiting(row) {
  show(row, "unsent", pill("queued", gettext("Waiting to be sent")));
}

/**
 * @param {HTMLTableRowElement} row
 * @param {number} share of the file that was sent, 0 to 1
 * @param {string} after what the server does when it has all of it
 */
export function showSending(row, share, after) {
  const percent = Math.floor(share * 100);
  const text = share < 1 ? fill(gettext("Uploading %(percent)s %"), { percent }) : after;
  const bar = row.querySelector("progress");
  if (bar && share < 1) {
    bar.value = share;
    /** @type {HTMLElement} */ (row.querySelector(".stage-pill")).textContent = text;
    return;
  }
  const parts = [pill("running", text)];
  if (share < 1) {
    const progress = document.createElement("progress");
    progress.max = 1;
    progress.value = share;
    progress.setAttribute("aria-label", fill(gettext("Uploading %(name)s"), { name: nameOf(row) }));
    parts.push(progress);
  }
  show(row, "sending", ...parts);
}

/**
 * @param {HTMLTableRowElement} row
 * @param {string} reason
 * @param {(() => void) | null} again what a button to try again does, if that can help
 */
export function showRefused(row, reason, again = null) {
  const text = document.createElement("span");
  text.className = "stage-error";
  text.textContent = reason;
  const parts = [pill("failed", gettext("Not taken")), text];
  if (again) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "button";
    button.textContent = gettext("Try again");
    const label = fill(gettext("Try again to upload %(name)s"), { name: nameOf(row) });
    button.setAttribute("aria-label", label);
    button.addEventListener("click", again, { once: true });
    parts.push(button);
  }
  show(row, "refused", ...parts);
}

/** @param {HTMLTableRowElement} row */
function nameOf(row) {
  return row.cells[0].textContent ?? "";
}

/**
 * @param {string} kind
 * @param {string} text
 */
function pill(kind, text) {
  const element = document.createElement("span");
  element.className = `stage-pill stage-${kind}`;
  element.textContent = text;
  return element;
}

/**
 * @param {HTMLTableRowElement} row
 * @param {string} state
 * @param {HTMLElement[]} parts
 */
function show(row, state, ...parts) {
  const stage = document.createElement("span");
  stage.className = "stage";
  stage.dataset.state = state;
  stage.append(...parts);
  row.cells[2].replaceChildren(stage);
}
