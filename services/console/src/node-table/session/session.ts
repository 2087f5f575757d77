import type { LiveState } from "@flyte-ts/client/browser";
import type { NodeTableChunk } from "../wire/read-chunk.js";
import { buffersOf, groupActivities, sliceBars } from "./bar-slice.js";
import { nodeIdRow } from "./find-node.js";
import { FirstDraw } from "./first-draw.js";
import { NodeFeed } from "./node-feed.js";
import { countOverview } from "./overview-counts.js";
import { Pace } from "./pace.js";
import type { PageMessage, ShownParts, WorkerMessage } from "./protocol.js";
import { rowViews } from "./row-view.js";
import { TableReader } from "./table-reader.js";
import { TableView } from "./table-view.js";
import { countWaiting } from "../table/node-state.js";

/** Code of gRPC for errors that are not of the server. */
const UNKNOWN = 2;

/** Reads a stream's messages; calls `begin` at the start of each connection. */
export type ReadStream = (options: {
  readonly path: string;
  readonly origin?: string;
  readonly cursor: string;
  /** Waits for changes after the table is complete. */
  readonly isFollowed: boolean;
  readonly signal: AbortSignal;
  readonly begin: () => void;
  readonly onState: (state: LiveState) => void;
}) => AsyncIterable<NodeTableChunk>;

export interface SessionOptions {
  readonly read: ReadStream;
  readonly post: (message: WorkerMessage, moved: ArrayBuffer[]) => void;
  /** Milliseconds of the epoch by the browser's clock. */
  readonly now: () => number;
  /** Runs a function after a delay. */
  readonly schedule: (run: () => void, delayMs: number) => void;
}

/** A table that a worker reads for a page: applies the stream and answers the page's messages. */
export class TableSession {
  readonly #options: SessionOptions;
  readonly #reader = new TableReader();
  readonly #view = new TableView();
  readonly #pace: Pace;
  readonly #feed: NodeFeed;
  #stream: AbortController | undefined;
  #path = "";
  #clockSkewMs = 0;
  #parts: ShownParts | undefined;
  #firstDraw: FirstDraw | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#feed = new NodeFeed(options.post);
    this.#view.replace(this.#reader.table);
    this.#pace = new Pace(options, {
      isStale: () => this.#view.isStale,
      rebuild: () => this.#view.rebuild(this.#nowMs()),
      postOverview: () => this.#postOverview(),
      postRows: () => {
        this.#postSummary();
        this.#postShown();
      },
    });
  }

  receive(message: PageMessage): void {
    const view = this.#view;
    if (message.kind === "open") return this.#open(message);
    if (message.kind === "pause") return this.#stream?.abort();
    if (message.kind === "drawn") return this.#firstDraw?.end();
    if (message.kind === "reveal") return this.#reveal(message.nodeId);
    if (message.kind === "follow") return this.#feed.follow(view.table);
    if (message.kind === "show") {
      this.#parts = message.parts;
      return this.#postShown();
    }
    if (message.kind === "order") view.setOrder(message.order);
    else if (message.kind === "filter") view.setFilter(message.filter);
    else if (message.kind === "expand") view.expand(message.id, message.isExpanded);
    else view.trace(message.isTraced);
    this.#pace.flush();
  }

  #open({ path, origin, clockSkewMs, isFollowed = true, awaitsDraw = false }: PageMessage & { kind: "open" }): void {
    this.#stream?.abort();
    this.#clockSkewMs = clockSkewMs;
    if (path !== this.#path) {
      this.#path = path;
      this.#reader.restart();
      this.#view.replace(this.#reader.table);
    }
    if (this.#reader.hasEnded) return;
    this.#firstDraw = awaitsDraw ? new FirstDraw(this.#options.schedule) : undefined;
    this.#stream = new AbortController();
    void this.#follow({ isFollowed, signal: this.#stream.signal, ...(origin !== undefined && { origin }) });
  }

  async #follow(how: Pick<Parameters<ReadStream>[0], "isFollowed" | "signal" | "origin">): Promise<void> {
    const { read, post } = this.#options;
    const { signal } = how;
    const source = { path: this.#path, cursor: this.#reader.cursor, ...how };
    const begin = (): void => this.#reader.beginConnection();
    const onState = (state: LiveState): void => post({ kind: "live", state }, []);
    try {
      for await (const chunk of read({ ...source, begin, onState })) {
        if (signal.aborted) return;
        this.#apply(chunk);
        if (this.#view.table.length > 0 && !this.#reader.isComplete) await this.#firstDraw?.wait();
      }
    } catch (error) {
      if (signal.aborted) return;
      const code = error instanceof Error && "code" in error && typeof error.code === "number" ? error.code : UNKNOWN;
      post({ kind: "failed", code, message: error instanceof Error ? error.message : String(error) }, []);
    }
  }

  #apply(chunk: NodeTableChunk): void {
    const reader = this.#reader;
    const wasComplete = reader.isComplete;
    const change = reader.apply(chunk);
    if (chunk.execution !== undefined) this.#options.post({ kind: "execution", execution: chunk.execution }, []);
    if (reader.table === this.#view.table) this.#view.applied(change);
    // A table that is read anew is shown in the place of the old one as soon as it is complete.
    else if (reader.isComplete) this.#view.replace(reader.table);
    this.#feed.applied(this.#view.table, change);
    if ((reader.isComplete && (!wasComplete || chunk.complete)) || chunk.ended) this.#pace.finish();
    else this.#pace.changed();
  }

  #reveal(nodeId: string): void {
    const view = this.#view;
    if (view.isStale) view.rebuild(this.#nowMs());
    const row = nodeIdRow(view.table, nodeId);
    if (row !== -1 && view.order.placeOf[row] === -1) view.openAround(row);
    this.#pace.flush();
    this.#options.post({ kind: "revealed", nodeId, place: row === -1 ? -1 : (view.order.placeOf[row] as number) }, []);
  }

  #nowMs(): number {
    return this.#reader.nowMs(this.#options.now() + this.#clockSkewMs);
  }

  #postSummary(): void {
    const { counts, isComplete, isOver: hasEnded, lastMs } = this.#reader;
    const { version, order, table, matches } = this.#view;
    const waiting = countWaiting(table);
    const summary = { version, rows: order.length, nodes: table.length, matches, counts, waiting, isComplete, hasEnded, lastMs };
    this.#options.post({ kind: "summary", summary }, []);
  }

  #postShown(): void {
    const parts = this.#parts;
    if (parts === undefined) return;
    const bars = sliceBars(this.#view, parts.bars);
    const groups = groupActivities(this.#view, parts, this.#nowMs());
    const shown = { version: this.#view.version, rows: rowViews(this.#view, parts.rows), bars, groups, buckets: parts.buckets };
    const columns = [bars.queued, bars.started, bars.ended, bars.state, bars.attempts].map(({ buffer }) => buffer);
    this.#options.post({ kind: "shown", shown }, [...columns, ...groups.flatMap(({ activity }) => buffersOf(activity))]);
  }

  #postOverview(): void {
    const overview = countOverview(this.#view, this.#nowMs());
    if (overview !== undefined) this.#options.post({ kind: "overview", overview }, buffersOf(overview.activity));
  }
}
