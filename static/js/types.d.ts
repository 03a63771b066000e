/** The frames of chat/frames.py as the browser reads them, and the globals htmx brings. */

export interface CitationData {
  index: number;
  title: string;
  page: number | null;
  quote: string;
  place: [number, number] | null;
  span: [number, number];
  support: Support | null;
}

export type Support = "supported" | "partly" | "unsupported";

/** What was found out about a citation, by its number among the answer's. */
export interface CitationSupport {
  citation: number;
  support: Support;
  page: number | null;
  quote: string;
  place: [number, number] | null;
}

export interface Source {
  index: number | null;
  document_id: string;
  title: string;
  page: number | null;
}

interface Numbered {
  run: string | null;
  seq: number;
}

export type Frame = Numbered &
  (
    | {
        type: "status";
        stage: string;
        message: string;
        ask: string | null;
        conversation: string | null;
        question: string | null;
        answer: string | null;
      }
    | { type: "search_results"; results: Source[] }
    | { type: "thinking"; text: string }
    | { type: "token"; text: string }
    | ({ type: "citation" } & CitationData)
    | { type: "grounding"; verdict: string; citations: CitationSupport[] }
    | { type: "warning"; code: string; message: string }
    | {
        type: "error";
        code: string;
        message: string;
        recoverable: boolean;
        retry_in_ms: number;
        ask: string | null;
      }
    | { type: "done"; finish_reason: string; answer: string; citations: CitationData[] }
    | { type: "snapshot"; text: string; citations: CitationData[] }
    | { type: "pong" }
  );

export type AnswerState =
  | "searching"
  | "streaming"
  | "done"
  | "no_answer"
  | "length"
  | "cancelled"
  | "interrupted"
  | "failed";

declare global {
  interface Window {
    /** Django's catalogue of translations, if it is on the page. */
    gettext?: (text: string) => string;
    ngettext?: (one: string, many: string, count: number) => string;
    htmx: {
      ajax(method: string, url: string, options: object): Promise<void>;
      process(element: Element): void;
      trigger(element: Element, name: string): void;
    };
  }
}
