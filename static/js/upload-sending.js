/**
 * Sending what was chosen, a few at a time, each in a request of its own: a bad one does not keep
 * the others out, and there is no limit to how many are chosen.
 */

import { gettext } from "./translation.js";
import { showRefused, showSending, showWaiting } from "./upload-row.js";

/** Requests at the same time. */
const PARALLEL = 3;

/**
 * @typedef {object} Job
 * @property {HTMLTableRowElement} row
 * @property {FormData} data
 * @property {string} after what the server does when it has all of it
 */

/** Sends jobs in order. */
export class Sending {
  /** @type {Job[]} */
  #waiting = [];
  #active = 0;

  /**
   * @param {string} url
   * @param {(row: HTMLTableRowElement, html: string) => void} finished takes the server's rows
   * @param {() => void} changed is told whenever a row is in another state
   */
  constructor(url, finished, changed) {
    this.url = url;
    this.finished = finished;
    this.changed = changed;
  }

  /** Whether something is being sent or waits for it. */
  get busy() {
    return this.#active > 0 || this.#waiting.length > 0;
  }

  /** @param {Job} job */
  add(job) {
    showWaiting(job.row);
    this.#waiting.push(job);
    this.#next();
  }

  #next() {
    while (this.#active < PARALLEL && this.#waiting.length) {
      this.#active += 1;
      this.#send(/** @type {Job} */ (this.#waiting.shift()));
    }
    this.changed();
  }

  /** @param {Job} job */
  #send(job) {
    const { row, data, after } = job;
    showSending(row, 0, after);
    const request = new XMLHttpRequest();
    request.open("POST", this.url);
    request.setRequestHeader("HX-Request", "true");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable && event.loaded < event.total) {
        showSending(row, event.loaded / event.total, after);
      }
    });
    request.upload.addEventListener("load", () => showSending(row, 1, after));
    const refuse = (/** @type {string} */ reason) =>
      showRefused(row, reason, () => this.add(job));
    request.addEventListener("load", () => {
      if (request.responseURL.includes("/login/")) {
        refuse(gettext("You are signed out. Sign in on another tab, then try again."));
      } else if (request.status === 200) {
        this.finished(row, request.responseText);
      } else if (request.status === 413) {
        // A proxy in between would send a page.
        const plain = request.getResponseHeader("content-type")?.startsWith("text/plain");
        const reason = plain && request.responseText;
        showRefused(row, reason || gettext("This is larger than what is taken at once."));
      } else if (request.status === 403) {
        refuse(gettext("You may not do this, or this page is too old: reload it."));
      } else {
        refuse(gettext("The server could not take this. Try again."));
      }
    });
    const lost = gettext("The connection was lost. Try again.");
    request.addEventListener("error", () => refuse(lost));
    request.addEventListener("loadend", () => {
      this.#active -= 1;
      this.#next();
    });
    request.send(data);
  }
}
