/**
 * pdf.js, which comes when the first PDF is opened, and the document that is open in it.
 */

/** @import { PdfDocument, PdfLibrary } from "./pdf.d.ts" */

/** @type {Promise<PdfLibrary> | null} */
let library = null;
/** @type {{ file: string, task: ReturnType<PdfLibrary["getDocument"]> } | null} */
let opened = null;

/**
 * @param {DOMStringMap} data of the page's view: where the library, its parts and the file are
 * @returns {Promise<{ pdf: PdfDocument, TextLayer: PdfLibrary["TextLayer"] }>}
 */
export async function openPdf({ library: address = "", worker = "", assets = "", file = "" }) {
  library ??= import(address);
  /** @type {PdfLibrary} */
  let found;
  try {
    found = await library;
  } catch (error) {
    library = null;
    throw error;
  }
  found.GlobalWorkerOptions.workerSrc = worker;
  if (opened?.file !== file) {
    closePdf();
    const task = found.getDocument({
      url: file,
      // Only the parts that a page takes are fetched.
      disableAutoFetch: true,
      disableStream: true,
      cMapUrl: `${assets}cmaps/`,
      standardFontDataUrl: `${assets}standard_fonts/`,
      wasmUrl: `${assets}wasm/`,
      // The site's policy allows none.
      useWasm: false,
      verbosity: 0,
    });
    opened = { file, task };
  }
  const current = opened;
  try {
    return { pdf: await current.task.promise, TextLayer: found.TextLayer };
  } catch (error) {
    if (opened === current) closePdf();
    throw error;
  }
}

/** Let go of the document and its worker. */
export function closePdf() {
  opened?.task.destroy();
  opened = null;
}
