/** What of pdf.js the source panel uses; the library comes when the first PDF is opened. */

export interface PdfLibrary {
  GlobalWorkerOptions: { workerSrc: string };
  TextLayer: new (options: {
    textContentSource: object;
    container: HTMLElement;
    viewport: PdfViewport;
  }) => PdfTextLayer;
  getDocument(options: object): { promise: Promise<PdfDocument>; destroy(): Promise<void> };
}

export interface PdfDocument {
  numPages: number;
  getPage(number: number): Promise<PdfPage>;
}

export interface PdfPage {
  getViewport(options: { scale: number }): PdfViewport;
  getTextContent(): Promise<object>;
  render(options: {
    canvas: HTMLCanvasElement;
    viewport: PdfViewport;
    transform: number[];
  }): PdfDrawing;
}

export interface PdfDrawing {
  promise: Promise<void>;
  cancel(): void;
}

export interface PdfViewport {
  width: number;
  height: number;
  scale: number;
}

export interface PdfTextLayer {
  textDivs: HTMLElement[];
  render(): Promise<void>;
}

/** What of a passage stands on a page. */
export interface MarkedPage {
  number: number;
  passage: string;
  quote: string;
}
