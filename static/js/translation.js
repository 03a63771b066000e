/**
 * What the page says, in its language. Where Django's catalogue is not there it says it in English.
 */

/** @param {string} text */
export function gettext(text) {
  return window.gettext?.(text) ?? text;
}

/**
 * @param {string} one
 * @param {string} many
 * @param {number} count
 */
export function ngettext(one, many, count) {
  return window.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
}

/**
 * Put values in the places of a translated text: `%(name)s`.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export function fill(text, values) {
  return text.replace(/%\((\w+)\)s/g, (place, name) => String(values[name] ?? place));
}
