/**
 * Small choices of a person that the server needs to draw the page right at once.
 */

const YEAR_S = 365 * 24 * 3600;

/**
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `${name}=${value}; path=/; max-age=${YEAR_S}; samesite=lax${secure}`;
}
