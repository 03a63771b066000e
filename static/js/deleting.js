/**
 * A conversation that is being deleted: that ends its answer, which then is not there to be fetched.
 */

import { FAILURES } from "./failed-requests.js";

/**
 * @param {() => string | null} id the conversation's
 * @param {(deleted: boolean) => void} onChange called when it is being deleted; when that failed
 */
export function whenDeleted(id, onChange) {
  /**
   * @param {string} name of an event of a request
   * @param {boolean} deleted
   */
  const tell = (name, deleted) => {
    document.addEventListener(name, (event) => {
      const { requestConfig } = /** @type {CustomEvent} */ (event).detail;
      if (id() && requestConfig.path.endsWith(`/c/${id()}/delete/`)) onChange(deleted);
    });
  };
  tell("htmx:beforeRequest", true);
  for (const name of FAILURES) tell(name, false);
}
