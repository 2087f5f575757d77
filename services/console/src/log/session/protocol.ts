import type { LiveState } from "@flyte-ts/client/browser";
import type { LogQuery } from "../text/log-pattern.js";

/** Log of an attempt. */
export interface LogSource {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly node: string;
  /** From 0; default: the last one. */
  readonly attempt?: number | undefined;
  /** Item of an array node. */
  readonly item?: number | undefined;
  /** Default: the one that runs the task. */
  readonly container?: string | undefined;
}

/** One line. */
export interface LogLine {
  readonly text: string;
  /** Milliseconds of the epoch. */
  readonly timeMs: number | undefined;
}

/** Lines that are shown. */
export interface ShownLines {
  /** Number of the first one, from 0. */
  readonly from: number;
  readonly lines: readonly LogLine[];
}

/** State of a log. */
export interface LogSummary {
  readonly lines: number;
  readonly bytes: number;
  /** Time of the first line, milliseconds of the epoch. */
  readonly firstMs: number | undefined;
  /** The server has sent a message. */
  readonly isOpen: boolean;
  /** The log is complete. */
  readonly hasEnded: boolean;
}

/** Lines that match the query. */
export interface SearchState {
  readonly count: number;
  /** Parts of the log with matches, for a bar of marks. */
  readonly marks: Uint8Array;
  /** All lines have been searched. */
  readonly isDone: boolean;
  /** Reason why the query is refused. */
  readonly problem?: string;
}

/** A match and its place among the others; −1 if there is none. */
export interface FoundMatch {
  readonly index: number;
  readonly line: number;
}

/** Messages of the page. */
export type LogRequest =
  | { readonly kind: "open"; readonly source: LogSource; readonly origin?: string }
  | { readonly kind: "pause" }
  | { readonly kind: "show"; readonly from: number; readonly to: number }
  | { readonly kind: "search"; readonly query: LogQuery | undefined }
  /** Finds the first match at or after a line, or the last one before it. */
  | { readonly kind: "find"; readonly line: number; readonly direction: 1 | -1 }
  | { readonly kind: "download" };

/** Messages of the worker. */
export type LogAnswer =
  | { readonly kind: "summary"; readonly summary: LogSummary }
  | { readonly kind: "shown"; readonly shown: ShownLines }
  /** Last lines of a long log while those before them are read; undefined once they are. */
  | { readonly kind: "tail"; readonly lines: readonly LogLine[] | undefined }
  | { readonly kind: "search"; readonly search: SearchState | undefined }
  | { readonly kind: "found"; readonly found: FoundMatch }
  | { readonly kind: "live"; readonly state: LiveState }
  | { readonly kind: "failed"; readonly code: number; readonly message: string }
  | { readonly kind: "file"; readonly file: Blob };
