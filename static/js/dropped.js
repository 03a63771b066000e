/**
 * What was dropped, with everything in dropped folders.
 */

/** @typedef {{file: File, path: string}} Found a file, and where it stands in what was chosen */

/**
 * @param {DataTransfer} transfer
 * @returns {Promise<Found[]>}
 */
export async function droppedFiles(transfer) {
  // Entries must be asked for before the first wait: the list is emptied then.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (!entries.some((entry) => entry?.isDirectory)) return chosenFiles(transfer.files);
  /** @type {Found[]} */
  const found = [];
  for (const entry of entries) if (entry) await walk(entry, found);
  return found;
}

/**
 * @param {Iterable<File>} files of an input, of single files or of a folder
 * @returns {Found[]}
 */
export function chosenFiles(files) {
  return [...files]
    .map((file) => ({ file, path: file.webkitRelativePath || file.name }))
    .filter(({ file, path }) => path === file.name || !hidden(path));
}

/**
 * @param {FileSystemEntry} entry
 * @param {Found[]} found
 */
async function walk(entry, found) {
  const path = entry.fullPath.replace(/^\//, "");
  if (path.includes("/") && hidden(path)) return;
  if (entry.isDirectory) {
    for (const child of await children(/** @type {FileSystemDirectoryEntry} */ (entry))) {
      await walk(child, found);
    }
    return;
  }
  const file = await new Promise((resolve) => {
    /** @type {FileSystemFileEntry} */ (entry).file(resolve, () => resolve(null));
  });
  if (file) found.push({ file, path });
}

/**
 * @param {FileSystemDirectoryEntry} folder
 * @returns {Promise<FileSystemEntry[]>}
 */
async function children(folder) {
  const reader = folder.createReader();
  const all = [];
  while (true) {
    // It gives a hundred at a time, and none at the end.
    const some = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([])));
    if (!some.length) return all;
    all.push(...some);
  }
}

/**
 * Whether a file in a folder is one that people do not see: `.DS_Store`, `Thumbs.db`.
 * @param {string} path
 */
function hidden(path) {
  const name = path.split("/").pop() ?? "";
  return name.startsWith(".") || ["thumbs.db", "desktop.ini"].includes(name.toLowerCase());
}
