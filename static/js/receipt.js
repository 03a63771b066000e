/**
 * Tells the server what the page has taken in: when too much is on the way, it waits.
 */

const AFTER_MS = 1000;

/** Sends the newest number, at most once a second. */
export class Receipt {
  /** @param {(taken: { run: string, seq: number }) => void} send */
  constructor(send) {
    this.send = send;
    /** @type {{ run: string, seq: number } | null} what is to be sent */
    this.taken = null;
  }

  /**
   * @param {string} run
   * @param {number} seq
   */
  note(run, seq) {
    const due = this.taken === null;
    this.taken = { run, seq };
    if (!due) return;
    setTimeout(() => {
      if (this.taken) this.send(this.taken);
      this.taken = null;
    }, AFTER_MS);
  }
}
