import type { LiveState } from "@flyte-ts/client/browser";
import { createStore, type Store } from "../../session/store.js";
import type { LogQuery } from "../text/log-pattern.js";
import type { FoundMatch, LogAnswer, LogLine, LogRequest, LogSource, LogSummary, SearchState, ShownLines } from "./protocol.js";

/** Parts of a Worker that the client needs. */
export interface LogWorker {
  onmessage: ((event: { readonly data: LogAnswer }) => void) | null;
  postMessage(message: LogRequest): void;
  terminate(): void;
}

/** Page's side of the worker that holds a log. */
export interface LogClient {
  readonly summary: Store<LogSummary | undefined>;
  readonly shown: Store<ShownLines | undefined>;
  /** Last lines of a long log, without numbers until the lines before them are read. */
  readonly tail: Store<readonly LogLine[] | undefined>;
  readonly search: Store<SearchState | undefined>;
  /** Match that was found last. */
  readonly found: Store<FoundMatch | undefined>;
  readonly live: Store<LiveState | undefined>;
  /** Error that ended the stream for good; `code` is a code of gRPC. */
  readonly failure: Store<{ readonly code: number; readonly message: string } | undefined>;
  /** Follows a log; continues where it was if it is the one followed before. */
  open(source: LogSource, how?: { readonly origin?: string; readonly isFollowed?: boolean }): void;
  /** Ends the stream, as for a tab that is hidden; `open` continues it. */
  pause(): void;
  show(from: number, to: number): void;
  setQuery(query: LogQuery | undefined): void;
  find(line: number, direction: 1 | -1): void;
  /** Resolves to the text of the log as far as it is read. */
  download(): Promise<Blob>;
  /** Ends the worker. */
  close(): void;
}

export function connectLog(worker: LogWorker): LogClient {
  const stores = {
    summary: createStore<LogSummary | undefined>(undefined),
    shown: createStore<ShownLines | undefined>(undefined),
    tail: createStore<readonly LogLine[] | undefined>(undefined),
    search: createStore<SearchState | undefined>(undefined),
    found: createStore<FoundMatch | undefined>(undefined),
    live: createStore<LiveState | undefined>(undefined),
    failure: createStore<{ readonly code: number; readonly message: string } | undefined>(undefined),
  };
  const send = (request: LogRequest): void => worker.postMessage(request);
  const files: ((file: Blob) => void)[] = [];
  // At most one request is under way: scrolling makes more than a worker can answer.
  let [isAsked, wanted]: [boolean, readonly [number, number] | undefined] = [false, undefined];
  const show = (from: number, to: number): void => {
    const isFree = !isAsked;
    [isAsked, wanted] = [true, isFree ? undefined : [from, to]];
    if (isFree) send({ kind: "show", from, to });
  };
  const receiveShown = (shown: ShownLines): void => {
    const next = wanted;
    [isAsked, wanted] = [false, undefined];
    if (next !== undefined) show(...next);
    stores.shown.set(shown);
  };
  worker.onmessage = ({ data }) => {
    if (data.kind === "summary") stores.summary.set(data.summary);
    else if (data.kind === "shown") receiveShown(data.shown);
    else if (data.kind === "tail") stores.tail.set(data.lines);
    else if (data.kind === "search") stores.search.set(data.search);
    else if (data.kind === "found") stores.found.set(data.found);
    else if (data.kind === "live") stores.live.set(data.state);
    else if (data.kind === "failed") stores.failure.set({ code: data.code, message: data.message });
    else for (const resolve of files.splice(0)) resolve(data.file);
  };
  return {
    ...stores,
    open: (source, how = {}) => {
      stores.failure.set(undefined);
      send({ kind: "open", source, ...how });
    },
    pause: () => send({ kind: "pause" }),
    show,
    setQuery: (query) => {
      stores.found.set(undefined);
      send({ kind: "search", query });
    },
    find: (line, direction) => send({ kind: "find", line, direction }),
    download: () =>
      new Promise((resolve) => {
        files.push(resolve);
        send({ kind: "download" });
      }),
    close: () => worker.terminate(),
  };
}
