import type { ServerResponse } from "node:http";
import type { StoreEvent } from "../../store/history.js";
import { withMeta } from "../../object/model.js";
import { Stored } from "../../store/stored-object.js";
import { badRequest, expired } from "../api-error.js";
import { type ApiContext, type Target } from "../context.js";
import { select } from "./list.js";
import { encodeOne, type Representation } from "../type/representation.js";
import { groupVersion, type ResourceType } from "../type/resource-type.js";
import { type Selection, selectionOf } from "./selection.js";

/**
 * Maximum of buffered output per watch, bytes; beyond it the watch is closed, and its client
 * resumes or lists again.
 */
const MAX_BACKLOG_BYTES = 64 << 20;
const BOOKMARK_INTERVAL_MS = 60_000;
/**
 * Minimum duration of a watch without timeoutSeconds, ms; the actual one is up to twice that, as in
 * Kubernetes.
 */
const MIN_TIMEOUT_MS = 30 * 60_000;

export interface WatchRequest {
  readonly target: Target;
  readonly query: URLSearchParams;
  readonly representation: Representation;
  readonly response: ServerResponse;
}

/** Serves watches; encodes each event once for all watches of the same form. */
export class WatchServer {
  readonly #context: ApiContext;
  readonly #open = new Set<() => void>();
  #shared: { event: StoreEvent; lines: Map<string, Buffer> } | undefined;

  constructor(context: ApiContext) {
    this.#context = context;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Ends all streams; clients resume later. */
  closeAll(): void {
    for (const close of this.#open) close();
  }

  /** Serves a watch until its timeout, the end of the connection, or an overflow of its buffer. */
  async serve(request: WatchRequest): Promise<void> {
    const { target, query, representation, response } = request;
    const { store } = this.#context;
    const selection = selectionOf(target, query);
    const start = watchStart(query);
    const timeoutMs = watchTimeoutMs(query);
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private", "transfer-encoding": "chunked" });
    response.flushHeaders();

    let from: number;
    let unsubscribe = () => {};
    const timers: NodeJS.Timeout[] = [];
    const close = () => {
      if (!this.#open.delete(close)) return;
      unsubscribe();
      for (const timer of timers) clearTimeout(timer);
      response.end();
    };
    this.#open.add(close);
    response.on("close", close);
    const send = (line: Buffer | string) => {
      response.write(line);
      if (response.writableLength > MAX_BACKLOG_BYTES) {
        close();
        response.destroy();
      }
    };
    const bookmark = (initialEnd: boolean) =>
      send(bookmarkLine(target.type, { revision: Math.max(from, store.durableRevision), initialEnd, form: representation.form }));
    const deliver = (event: StoreEvent) => {
      if (event.stored.revision <= from) return;
      const line = this.#lineFor(event, { type: target.type, selection, representation });
      if (line !== undefined) send(line);
    };

    if (start.kind === "now") {
      const initial = select(this.#context, target, selection);
      from = store.revision;
      // The initial list includes writes that are not yet durable; `deliver` skips their events
      // when they arrive.
      unsubscribe = store.subscribe(target.type.storage, deliver);
      await store.durable(from);
      if (!this.#open.has(close)) return;
      for (const stored of initial) {
        send(`{"type":"ADDED","object":${this.#encode(stored, target.type, representation)}}\n`);
        if (!this.#open.has(close)) return;
      }
      if (start.initialEnd) bookmark(true);
    } else {
      from = start.revision;
      const known = start.revision > store.revision ? { tooOld: store.revision } : store.since(target.type.storage, from);
      if ("tooOld" in known) {
        const error = expired(`too old resource version: ${from} (${known.tooOld})`);
        send(`${JSON.stringify({ type: "ERROR", object: error.toStatus() })}\n`);
        close();
        return;
      }
      for (const event of known.events) {
        deliver(event);
        // A client that is far behind overflows the buffer: its watch has ended.
        if (!this.#open.has(close)) return;
      }
      unsubscribe = store.subscribe(target.type.storage, deliver);
    }
    if (!this.#open.has(close)) return;
    if (query.get("allowWatchBookmarks") === "true" || query.get("allowWatchBookmarks") === "1")
      timers.push(setInterval(() => bookmark(false), BOOKMARK_INTERVAL_MS));
    timers.push(
      setTimeout(() => {
        if (query.get("allowWatchBookmarks") === "true") bookmark(false);
        close();
      }, timeoutMs),
    );
  }

  #encode(stored: Stored, type: ResourceType, representation: Representation): string {
    return encodeOne(stored, { type, representation, now: this.#context.now() });
  }

  /** Encodes an event as this watch sees it: an object that leaves its selection is DELETED. */
  #lineFor(
    event: StoreEvent,
    { type, selection, representation }: { type: ResourceType; selection: Selection; representation: Representation },
  ): Buffer | undefined {
    const before = event.type !== "ADDED" && (selection.all || selection.matches((event.previous ?? event.stored).object));
    const after = event.type !== "DELETED" && (selection.all || selection.matches(event.stored.object));
    if (!before && !after) return undefined;
    const seen = !after ? "DELETED" : before ? "MODIFIED" : "ADDED";
    const key = `${seen} ${representation.form} ${representation.include} ${groupVersion(type)}`;
    if (this.#shared?.event !== event) this.#shared = { event, lines: new Map() };
    let line = this.#shared.lines.get(key);
    if (line === undefined) {
      line = Buffer.from(`{"type":"${seen}","object":${this.#encode(shownIn(event, seen), type, representation)}}\n`);
      this.#shared.lines.set(key, line);
    }
    return line;
  }
}

/**
 * A watch that sees an object leave its selection receives the previous state at the revision of
 * the change.
 */
function shownIn({ type, stored, previous }: StoreEvent, seen: string): Stored {
  if (seen !== "DELETED" || type === "DELETED" || previous === undefined) return stored;
  return new Stored(withMeta(previous.object, { resourceVersion: String(stored.revision) }), { revision: stored.revision });
}

type WatchStart = { readonly kind: "now"; readonly initialEnd: boolean } | { readonly kind: "after"; readonly revision: number };

function watchStart(query: URLSearchParams): WatchStart {
  const text = query.get("resourceVersion") ?? "";
  if (query.get("sendInitialEvents") === "true") return { kind: "now", initialEnd: true };
  if (query.get("sendInitialEvents") !== "false" && (text === "" || text === "0")) return { kind: "now", initialEnd: false };
  const revision = Number(text);
  if (!Number.isSafeInteger(revision) || revision < 0)
    throw badRequest(`Invalid value: ${JSON.stringify(text)}: resourceVersion must be a number`);
  return { kind: "after", revision };
}

function watchTimeoutMs(query: URLSearchParams): number {
  const seconds = Number(query.get("timeoutSeconds") ?? 0);
  if (!Number.isFinite(seconds)) throw badRequest("timeoutSeconds must be a number");
  return seconds > 0 ? Math.min(seconds * 1000, 2 ** 31 - 1) : MIN_TIMEOUT_MS * (1 + Math.random());
}

function bookmarkLine(
  type: ResourceType,
  { revision, initialEnd, form }: { revision: number; initialEnd: boolean; form: Representation["form"] },
): string {
  const metadata = { resourceVersion: String(revision), ...(initialEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}) };
  switch (form) {
    case "object":
      return `${JSON.stringify({ type: "BOOKMARK", object: { kind: type.kind, apiVersion: groupVersion(type), metadata } })}\n`;
    case "metadata":
      return `${JSON.stringify({ type: "BOOKMARK", object: { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata } })}\n`;
    case "table":
      return `${JSON.stringify({ type: "BOOKMARK", object: { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, columnDefinitions: [], rows: [] } })}\n`;
  }
}
