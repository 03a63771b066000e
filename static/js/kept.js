/**
 * What this browser keeps for a person, by conversation: what is being written, and the choice of
 * whom to ask. It survives signing in again; signing out forgets it.
 */

const PREFIX = "ragsite";
const NEW = "new";
const GUEST = "guest";

/** @typedef {"draft" | "choice"} Kind */

/** The drafts and choices of one person. */
export class Kept {
  /** @param {string} person the key of an account, or `guest` */
  constructor(person) {
    this.person = person;
  }

  /**
   * @param {Kind} kind
   * @param {string | null} conversation null for a new one
   * @returns {string} empty if there is none
   */
  get(kind, conversation) {
    const own = read(key(this.person, conversation, kind));
    if (own || this.person === GUEST) return own;
    // What a guest wrote goes with them when they sign in, as their conversations do.
    const left = key(GUEST, conversation, kind);
    const found = read(left);
    if (found) this.set(kind, conversation, found);
    write(left, "");
    return found;
  }

  /**
   * @param {Kind} kind
   * @param {string | null} conversation null for a new one
   * @param {string} value empty to forget
   */
  set(kind, conversation, value) {
    write(key(this.person, conversation, kind), value);
  }
}

/** Forget everything, of everybody. */
export function forgetKept() {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(`${PREFIX}/`)) localStorage.removeItem(name);
    }
  } catch {
    // Nothing was kept then.
  }
}

/**
 * @param {string} person
 * @param {string | null} conversation
 * @param {Kind} kind
 */
function key(person, conversation, kind) {
  return `${PREFIX}/${person}/${conversation ?? NEW}/${kind}`;
}

/** @param {string} name */
function read(name) {
  try {
    return localStorage.getItem(name) ?? "";
  } catch {
    return ""; // a browser may let no page keep anything
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
function write(name, value) {
  try {
    if (value) localStorage.setItem(name, value);
    else localStorage.removeItem(name);
  } catch {
    // Full, or not allowed: the page works without.
  }
}
