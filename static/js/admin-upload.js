/**
 * The upload page: files and folders are dropped or chosen, and addresses given; each is sent by
 * itself with its progress, and then followed by the page's poller. Without this module the form
 * sends them all at once.
 */

import { announce } from "./announce.js";
import { chosenFiles, droppedFiles } from "./dropped.js";
import { fill, gettext } from "./translation.js";
import { makeRow, showRefused } from "./upload-row.js";
import { Sending } from "./upload-sending.js";

/** @typedef {import("./dropped.js").Found} Found */

/** Documents that the poller asks for at once: the queue takes the first ones first. */
const POLLED = 100;
const ENDED = ["ready", "failed", "refused", "gone"];

const form = /** @type {HTMLFormElement} */ (document.querySelector("form.upload"));
const drop = /** @type {HTMLElement} */ (form.querySelector(".upload-drop"));
const urls = /** @type {HTMLTextAreaElement | null} */ (form.querySelector("[name=urls]"));
const collection = /** @type {HTMLSelectElement} */ (form.querySelector("[name=collection]"));
const results = /** @type {HTMLElement} */ (document.querySelector(".upload-results"));
const summary = /** @type {HTMLElement} */ (results.querySelector(".upload-summary"));
const progress = /** @type {HTMLProgressElement} */ (results.querySelector(".upload-all"));
const rows = /** @type {HTMLElement} */ (document.querySelector("#upload-rows"));

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
const sending = new Sending(form.action, finish, summarise);

/** @param {Found[]} found */
function take(found) {
  for (const { file, path } of found) {
    const row = addRow(path, file.size);
    if (file.size > Number(form.dataset.maxBytes)) {
      showRefused(row, form.dataset.tooLarge ?? "");
    } else {
      const data = fields();
      data.append("path", path);
      data.append("files", file);
      const after = /\.zip$/i.test(path) ? gettext("Unpacking") : gettext("Storing");
      sending.add({ row, data, after });
    }
  }
  summarise();
}

function takeAddresses() {
  for (const line of urls?.value.split("\n") ?? []) {
    const url = line.trim();
    if (!url) continue;
    const data = fields();
    data.append("urls", url);
    sending.add({ row: addRow(url, null), data, after: gettext("Storing") });
  }
  if (urls) urls.value = "";
  summarise();
}

/** Return what the form says now, without what is sent. */
function fields() {
  const data = new FormData(form);
  for (const name of ["files", "folder", "urls"]) data.delete(name);
  return data;
}

/**
 * @param {string} name
 * @param {number | null} size
 */
function addRow(name, size) {
  const row = makeRow(name, size);
  rows.append(row);
  results.hidden = false;
  return row;
}

/**
 * Put the server's rows in the place of ours, and follow them.
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
  const active = [...rows.querySelectorAll(".stage [name=version]")].slice(0, POLLED);
  if (active.length && !("active" in poller.dataset)) {
    poller.dataset.active = "";
    const version = active.map((field) => /** @type {HTMLInputElement} */ (field).value);
    window.htmx.ajax("GET", poller.dataset.url ?? "", {
      source: poller,
      target: poller,
      swap: "outerHTML",
      select: "#stages-poller",
      values: { version },
    });
  }
  summarise();
}

/** Count soon: a thousand files change more often than anyone can read. */
function summarise() {
  timer ??= setTimeout(() => {
    timer = undefined;
    sayHowMany();
  }, 100);
}

/** Say how many there are in each state. */
function sayHowMany() {
  const states = [...rows.querySelectorAll(".stage")].map(
    (stage) => /** @type {HTMLElement} */ (stage).dataset.state ?? "",
  );
  const count = (/** @type {string[]} */ ...names) =>
    states.filter((state) => names.includes(state)).length;
  const ended = count(...ENDED);
  /** @type {[string, number][]} */
  const parts = [
    [gettext("%(n)s uploading"), count("unsent", "sending")],
    [gettext("%(n)s waiting"), count("queued")],
    [gettext("%(n)s being read"), states.length - ended - count("unsent", "sending", "queued")],
    [gettext("%(n)s ready"), count("ready")],
    [gettext("%(n)s unchanged"), count("gone")],
    [gettext("%(n)s failed"), count("failed", "refused")],
  ];
  const said = parts.filter(([, n]) => n).map(([text, n]) => fill(text, { n }));
  const all = { n: states.length, states: said.join(", ") };
  summary.textContent = fill(gettext("%(n)s in all: %(states)s."), all);
  progress.max = states.length || 1;
  progress.value = ended;
  announce();
}

/** Ask for a new collection's name only where one is to be made. */
function showName() {
  const row = /** @type {HTMLElement} */ (form.querySelector(".field-new_collection"));
  row.hidden = collection.value !== "";
}

for (const input of form.querySelectorAll("input[type=file]")) {
  const field = /** @type {HTMLInputElement} */ (input);
  field.addEventListener("change", () => {
    take(chosenFiles(field.files ?? []));
    field.value = "";
  });
}
form.querySelector(".upload-folder")?.addEventListener("click", () => {
  /** @type {HTMLInputElement} */ (form.querySelector("[name=folder]")).click();
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
drop.addEventListener("drop", async (event) => {
  event.preventDefault();
  if (event.dataTransfer) take(await droppedFiles(event.dataTransfer));
});
// A file that misses the field would take the place of the page.
for (const name of ["dragover", "drop"]) {
  document.addEventListener(name, (event) => event.preventDefault());
}
document.body.addEventListener("htmx:configRequest", (event) => {
  /** @type {{formData: FormData}} */
  const { formData } = /** @type {CustomEvent} */ (event).detail;
  const keys = formData.getAll("version");
  formData.delete("version");
  for (const key of keys.slice(0, POLLED)) formData.append("version", key);
});
// A row may have come while the poller's last answer was on its way.
document.body.addEventListener("htmx:afterSettle", follow);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  takeAddresses();
});
window.addEventListener("beforeunload", (event) => {
  if (sending.busy) event.preventDefault();
});
collection.addEventListener("change", showName);
showName();
if (rows.childElementCount) follow();
form.dataset.ready = "true";
