import { createRestClient, pathOf, RestError, type RestClient, resumeStream } from "@flyte-ts/client/browser";
import { LineStore } from "../text/line-store.js";
import { SearchLoop } from "./log-search-loop.js";
import { LogTail, TAIL_LINES } from "./log-tail.js";
import type { LogAnswer, LogRequest, LogSource } from "./protocol.js";
import { readLogMessage } from "./read-log-message.js";

/** Time between two summaries, ms. */
const SUMMARY_MS = 100;
/** Time after which reading lets messages of the page go first, ms. */
const SLICE_MS = 12;
const UNKNOWN = 2;

export interface LogSessionOptions {
  readonly post: (answer: LogAnswer) => void;
  readonly now: () => number;
  readonly schedule: (run: () => void, delayMs: number) => void;
  /** Default: by fetch. */
  readonly clientOf?: (origin: string | undefined) => RestClient;
  /** Waits before the next try; default: a timer. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface FollowOptions {
  readonly origin?: string;
  /** Default true; otherwise the stream ends after what there is. */
  readonly isFollowed?: boolean;
  readonly signal: AbortSignal;
}

/** Worker's side of a log: reads its stream into a store, and answers requests of the page. */
export class LogSession {
  readonly #options: LogSessionOptions;
  readonly #search: SearchLoop;
  #store = new LineStore();
  #tail: LogTail;
  #source = "";
  #cursor = "";
  #state = { isOpen: false, hasEnded: false };
  #stream: AbortController | undefined;
  #isSummaryDue = false;

  constructor(options: LogSessionOptions) {
    this.#options = options;
    const { post, now, schedule } = options;
    this.#search = new SearchLoop({
      store: () => this.#store,
      post: (search) => post({ kind: "search", search }),
      now,
      schedule,
    });
    this.#tail = this.#newTail();
  }

  #newTail(): LogTail {
    return new LogTail((lines) => this.#options.post({ kind: "tail", lines }));
  }

  receive(request: LogRequest): void {
    const { post } = this.#options;
    if (request.kind === "open") this.#open(request);
    else if (request.kind === "pause") this.#stream?.abort();
    else if (request.kind === "show") this.#show(request.from, request.to);
    else if (request.kind === "search") this.#search.begin(request.query);
    else if (request.kind === "find") post({ kind: "found", found: this.#search.find(request.line, request.direction) });
    else post({ kind: "file", file: new Blob([...this.#store.parts()], { type: "text/plain;charset=utf-8" }) });
  }

  /** Follows a log; continues after the last message if it is the one followed before. */
  #open({ source, ...how }: LogRequest & { readonly kind: "open" }): void {
    this.#stream?.abort();
    const identity = JSON.stringify(source);
    if (identity !== this.#source) {
      this.#tail.end();
      this.#tail = this.#newTail();
      [this.#source, this.#store, this.#cursor, this.#state] = [identity, new LineStore(), "", { isOpen: false, hasEnded: false }];
    }
    this.#summarize();
    if (this.#state.hasEnded) return;
    this.#stream = new AbortController();
    void this.#follow(source, { ...how, signal: this.#stream.signal });
  }

  async #follow({ project, domain, name, node, ...query }: LogSource, { origin, isFollowed = true, signal }: FollowOptions): Promise<void> {
    const { post, now, schedule, clientOf = clientByFetch, sleep } = this.#options;
    const client = clientOf(origin);
    const path = pathOf("api/v1/follow/log", project, domain, name, node);
    const first = this.#cursor;
    const parameters = { attempt: query.attempt, item: query.item, container: query.container, ...(!isFollowed && { no_follow: true }) };
    const tail = this.#tail;
    async function* open(last: string, opened: AbortSignal) {
      const cursor = last === "" ? first : last;
      // A stream that begins anew has its end again.
      tail.end();
      for await (const bytes of client.stream(path, {
        query: { ...parameters, ...(cursor === "" ? { end_lines: TAIL_LINES } : { cursor }) },
        signal: opened,
      })) {
        yield { message: bytes, cursor: readLogMessage(bytes).cursor };
      }
    }
    let sliceEnd = now() + SLICE_MS;
    try {
      for await (const bytes of resumeStream({
        open,
        signal,
        onState: (state) => post({ kind: "live", state }),
        ...(sleep && { sleep }),
      })) {
        this.#take(bytes);
        if (this.#state.hasEnded) this.#tail.end();
        else this.#tail.check(this.#store);
        if (now() < sliceEnd) continue;
        await new Promise<void>((resolve) => schedule(resolve, 0));
        if (signal.aborted) return;
        sliceEnd = now() + SLICE_MS;
      }
    } catch (error) {
      if (signal.aborted) return;
      const { code, message } = error instanceof RestError ? error : { code: UNKNOWN, message: String(error) };
      post({ kind: "failed", code, message });
    }
  }

  #take(bytes: Uint8Array): void {
    const { cursor, ended } = readLogMessage(
      bytes,
      (text, timeMs) => this.#store.appendLine(text, timeMs),
      (text, timeMs) => this.#tail.add(text, timeMs),
    );
    if (cursor !== "") this.#cursor = cursor;
    this.#state = { isOpen: true, hasEnded: this.#state.hasEnded || ended };
    this.#search.resume();
    if (this.#isSummaryDue) return;
    this.#isSummaryDue = true;
    this.#options.schedule(() => this.#summarize(), SUMMARY_MS);
  }

  #summarize(): void {
    this.#isSummaryDue = false;
    const { length, size } = this.#store;
    const firstMs = length === 0 ? undefined : this.#store.timeMs(0);
    this.#options.post({ kind: "summary", summary: { lines: length, bytes: size, firstMs, ...this.#state } });
  }

  #show(from: number, to: number): void {
    const store = this.#store;
    const last = Math.min(to, store.length);
    const lines = Array.from({ length: Math.max(0, last - from) }, (_, at) => ({
      text: store.text(from + at),
      timeMs: store.timeMs(from + at),
    }));
    this.#options.post({ kind: "shown", shown: { from, lines } });
  }
}

function clientByFetch(origin: string | undefined): RestClient {
  return createRestClient(origin === undefined ? {} : { origin });
}
