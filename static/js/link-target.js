/**
 * Links of an answer: they open outside, tell nothing, and say where they lead before they do.
 */

/**
 * Show a link's whole address behind it, unless that is what its text says.
 * @param {HTMLAnchorElement} link
 */
export function showTarget(link) {
  const href = link.getAttribute("href") ?? "";
  if (!URL.canParse(href)) {
    link.replaceWith(...link.childNodes);
    return;
  }
  const url = new URL(href);
  // A name in front of the host would pass for one.
  url.username = url.password = "";
  link.href = url.href;
  link.title = url.href;
  link.rel = "noopener noreferrer nofollow";
  link.target = "_blank";
  // Here hosts are spelt as the network knows them, letters that only look alike in `xn--…`.
  const address = bare(url.href);
  if (bare(link.textContent ?? "") === address) return;
  const target = document.createElement("span");
  target.className = "link-target";
  target.textContent = ` (${address})`;
  link.after(target);
}

/**
 * An address without what most have in common.
 * @param {string} address
 */
function bare(address) {
  return address.trim().replace(/^(?:https?:\/\/|mailto:)/, "").replace(/\/$/, "");
}
