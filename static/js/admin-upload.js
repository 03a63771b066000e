/**
 * The upload page: files are dropped or chosen, sent one by one with their progress, and then
 * followed by the page's poller. Without this module the form sends them all at once.
 */

/** @typedef {{ajax: (verb: string, url: string, context: object) => void, process: (element: Element) => void}} Htmx */

/** Requests at the same time. */
const PARALLEL = 2;

const form = /** @type {HTMLFormElement} */ (document.querySelector("form.upload"));
const input = /** @type {HTMLInputElement} */ (form.querySelector("#upload-files"));
const drop = /** @type {HTMLElement} */ (form.querySelector(".upload-drop"));
const results = /** @type {HTMLElement} */ (document.querySelector(".upload-results"));
const rows = /** @type {HTMLElement} */ (document.querySelector("#upload-rows"));
const htmx = /** @type {Htmx} */ (/** @type {any} */ (window).htmx);

/** @type {{file: File, row: HTMLTableRowElement}[]} */
const waiting = [];
let sending = 0;

/**
 * @param {File} file
 * @returns {HTMLTableRowElement} a row with the file's name, size and an empty state
 */
function addRow(file) {
  const row = document.createElement("tr");
  const name = document.createElement("th");
  name.scope = "row";
  name.textContent = file.name;
  const size = document.createElement("td");
  size.textContent = readableSize(file.size);
  row.append(name, size, document.createElement("td"));
  rows.append(row);
  results.hidden = false;
  return row;
}

/** @param {number} bytes */
function readableSize(bytes) {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 ** 2) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/**
 * @param {HTMLTableRowElement} row
 * @param {string} text
 */
function refuse(row, text) {
  const pill = document.createElement("span");
  pill.className = "stage-pill stage-failed";
  pill.textContent = "Not taken";
  const reason = document.createElement("span");
  reason.className = "stage-error";
  reason.textContent = text;
  const stage = document.createElement("span");
  stage.className = "stage";
  stage.dataset.state = "refused";
  stage.append(pill, reason);
  row.cells[2].replaceChildren(stage);
}

/** @param {FileList | File[]} files */
function take(files) {
  const most = Number(form.dataset.maxFiles);
  for (const [position, file] of [...files].entries()) {
    const row = addRow(file);
    if (position >= most) {
      refuse(row, `At most ${most} files are taken at once.`);
    } else if (file.size > Number(form.dataset.maxBytes)) {
      refuse(row, form.dataset.tooLarge ?? "");
    } else {
      waiting.push({ file, row });
    }
  }
  next();
}

function next() {
  while (sending < PARALLEL && waiting.length) {
    const { file, row } = /** @type {{file: File, row: HTMLTableRowElement}} */ (waiting.shift());
    sending += 1;
    send(file, row);
  }
}

/**
 * @param {File} file
 * @param {HTMLTableRowElement} row
 */
function send(file, row) {
  const progress = document.createElement("progress");
  progress.max = 1;
  progress.value = 0;
  progress.setAttribute("aria-label", `Uploading ${file.name}`);
  row.cells[2].replaceChildren(progress);

  const data = new FormData(form);
  data.delete("files");
  data.append("files", file);
  const request = new XMLHttpRequest();
  request.open("POST", form.action);
  request.setRequestHeader("HX-Request", "true");
  request.upload.addEventListener("progress", (event) => {
    if (event.lengthComputable) progress.value = event.loaded / event.total;
  });
  request.addEventListener("load", () => {
    if (request.status === 200 && !request.responseURL.includes("/login/")) {
      finish(row, request.responseText);
    } else {
      refuse(row, "The server did not take this file. Reload the page and try again.");
    }
  });
  request.addEventListener("error", () => refuse(row, "The connection was lost. Try it again."));
  request.addEventListener("loadend", () => {
    sending -= 1;
    next();
  });
  request.send(data);
}

/**
 * Put the server's row in the place of ours, and follow it.
 * @param {HTMLTableRowElement} row
 * @param {string} html
 */
function finish(row, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  row.replaceWith(template.content);
  follow();
}

/** Start the poller if it rests while some document has not ended; it asks for those it sees. */
function follow() {
  const poller = /** @type {HTMLElement} */ (document.querySelector("#stages-poller"));
  const active = [...rows.querySelectorAll(".stage [name=version]")];
  if (active.length && !("active" in poller.dataset)) {
    poller.dataset.active = "";
    const version = active.map((field) => /** @type {HTMLInputElement} */ (field).value);
    htmx.ajax("GET", poller.dataset.url ?? "", { source: poller, target: poller, swap: "outerHTML", values: { version } });
  }
}

input.addEventListener("change", () => {
  if (input.files?.length) take(input.files);
  input.value = "";
});
for (const name of ["dragenter", "dragover"]) {
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.add("is-over");
  });
}
for (const name of ["dragleave", "drop"]) {
  drop.addEventListener(name, () => drop.classList.remove("is-over"));
}
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  if (event.dataTransfer?.files.length) take(event.dataTransfer.files);
});
// A row may have come while the poller's last answer was on its way.
document.body.addEventListener("htmx:afterSettle", follow);
// Files are sent as they are chosen.
/** @type {HTMLElement} */ (form.querySelector(".submit-row")).hidden = true;
form.addEventListener("submit", (event) => event.preventDefault());
form.dataset.ready = "true";
