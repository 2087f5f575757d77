import { diff, mergePatch, NOT_REPRESENTABLE } from "../object/merge-patch.js";
import { isObject, type KubeObject, withMeta } from "../object/model.js";
import { History, type StoreEvent } from "./history.js";
import { type LogRecord, patchLine, putLine, removeLine } from "./log-record.js";
import { LARGE_BYTES, Stored } from "./stored-object.js";
import { Table } from "./table.js";

export interface ObjectKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

export type Listener = (event: StoreEvent) => void;

/** Appends lines in order and calls back when each is durable. */
export interface Journal {
  append(line: string, written: () => void): void;
}

/**
 * All objects in memory. A write is visible to later writes at once, but acknowledged (`durable`)
 * and sent to watches only when the journal has stored it. Readers that must not see a write that a
 * crash could revert wait for `durable` as well.
 */
export class ObjectStore {
  readonly #tables = new Map<string, Table>();
  readonly #histories = new Map<string, History>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #allListeners = new Set<Listener>();
  #journal: Journal | undefined;
  #head: number;
  #durable: number;
  /** All histories start at this revision. */
  readonly #floor: number;
  #waiters: { revision: number; resolve: () => void }[] = [];

  constructor(revision = 0) {
    this.#head = revision;
    this.#durable = revision;
    this.#floor = revision;
  }

  /** Sends later writes to this journal. */
  attach(journal: Journal): void {
    this.#journal = journal;
  }

  /** Latest revision, possibly not durable yet. */
  get revision(): number {
    return this.#head;
  }

  get durableRevision(): number {
    return this.#durable;
  }

  get({ resource, namespace, name }: ObjectKey): Stored | undefined {
    return this.#tables.get(resource)?.get(namespace, name);
  }

  list(resource: string, namespace?: string): readonly Stored[] {
    return this.#tables.get(resource)?.list(namespace) ?? [];
  }

  /** Objects of a namespace in any order; cheaper than `list` after a write. */
  within(resource: string, namespace: string): Iterable<Stored> {
    return this.#tables.get(resource)?.within(namespace) ?? [];
  }

  count(resource: string): number {
    return this.#tables.get(resource)?.size ?? 0;
  }

  resources(): Iterable<string> {
    return this.#tables.keys();
  }

  *values(): Generator<{ resource: string; stored: Stored }> {
    for (const [resource, table] of this.#tables) for (const stored of table.values()) yield { resource, stored };
  }

  /** Writes a new state and sets the resource version. Skips the write when the state is equal. */
  put(resource: string, wanted: KubeObject): Stored {
    const { namespace = "", name } = wanted.metadata;
    const previous = this.get({ resource, namespace, name });
    // The store sets the resource version and ignores the writer's value.
    const object = previous === undefined ? wanted : withMeta(wanted, { resourceVersion: String(previous.revision) });
    const patch = previous === undefined ? NOT_REPRESENTABLE : diff(previous.object, object);
    if (previous !== undefined && patch === undefined) return previous;
    const revision = this.#head + 1;
    const resourceVersion = String(revision);
    const next = withMeta(object, { resourceVersion });
    const type = previous === undefined ? "ADDED" : "MODIFIED";
    if (previous !== undefined && previous.size > LARGE_BYTES && typeof patch === "object") {
      const metadata = isObject(patch["metadata"]) ? patch["metadata"] : {};
      const text = JSON.stringify({ ...patch, metadata: { ...metadata, resourceVersion } });
      if (text.length < previous.size / 2) {
        const stored = new Stored(next, { revision, grown: { from: previous, by: text.length } });
        this.#commit({ type, resource, stored, previous }, patchLine(revision, { resource, namespace, name }, text));
        return stored;
      }
    }
    const stored = new Stored(next, { revision });
    this.#commit({ type, resource, stored, previous }, putLine(revision, resource, stored.text()));
    return stored;
  }

  /** Removes an object; returns its last state with the revision of the removal. */
  remove(place: ObjectKey): Stored | undefined {
    const previous = this.get(place);
    if (previous === undefined) return undefined;
    const revision = this.#head + 1;
    const stored = new Stored(withMeta(previous.object, { resourceVersion: String(revision) }), {
      revision,
      grown: { from: previous, by: 0 },
    });
    this.#commit({ type: "DELETED", resource: place.resource, stored, previous }, removeLine(revision, place));
    return stored;
  }

  /** Resolves when the revision (default: the latest) is durable. */
  durable(revision = this.#head): Promise<void> {
    if (revision <= this.#durable) return Promise.resolve();
    return new Promise((resolve) => this.#waiters.push({ revision, resolve }));
  }

  /** Returns durable events after a revision, oldest first. */
  since(resource: string, revision: number): { events: readonly StoreEvent[] } | { tooOld: number } {
    return this.#history(resource).since(revision);
  }

  /** Calls back for each durable write of the resource. @returns a function that unsubscribes */
  subscribe(resource: string, listener: Listener): () => void {
    let listeners = this.#listeners.get(resource);
    if (listeners === undefined) this.#listeners.set(resource, (listeners = new Set()));
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  subscribeAll(listener: Listener): () => void {
    this.#allListeners.add(listener);
    return () => this.#allListeners.delete(listener);
  }

  /** Loads an object of a snapshot; only while opening. */
  load(resource: string, object: KubeObject): void {
    this.#table(resource).set(new Stored(object, { revision: Number(object.metadata.resourceVersion) }));
  }

  /** Replays a write of the log; only while opening. */
  replay(record: LogRecord): void {
    if (record.r <= this.#head) return;
    const previous =
      "o" in record ? this.get(placeOf(record.k, record.o)) : this.get({ resource: record.k, namespace: record.s, name: record.n });
    this.#head = record.r;
    this.#durable = record.r;
    if ("o" in record) {
      this.#apply({
        type: previous === undefined ? "ADDED" : "MODIFIED",
        resource: record.k,
        stored: new Stored(record.o, { revision: record.r }),
        previous,
      });
    } else if (previous === undefined) {
      throw new Error(`revision ${record.r} of the log changes ${record.k} ${record.s}/${record.n}, which does not exist`);
    } else if ("d" in record) {
      const stored = new Stored(withMeta(previous.object, { resourceVersion: String(record.r) }), {
        revision: record.r,
        grown: { from: previous, by: 0 },
      });
      this.#apply({ type: "DELETED", resource: record.k, stored, previous });
    } else {
      const object = mergePatch(previous.object, record.p) as KubeObject;
      this.#apply({
        type: "MODIFIED",
        resource: record.k,
        stored: new Stored(object, { revision: record.r, grown: { from: previous, by: 64 } }),
        previous,
      });
    }
  }

  #commit(event: StoreEvent, line: string): void {
    if (this.#journal === undefined) throw new Error("the store has no journal");
    const { revision } = event.stored;
    this.#head = revision;
    this.#set(event);
    this.#journal.append(line, () => {
      this.#durable = revision;
      this.#history(event.resource).push(event);
      for (const listener of this.#allListeners) listener(event);
      for (const listener of this.#listeners.get(event.resource) ?? []) listener(event);
      event.previous?.release();
      if (event.type === "DELETED") event.stored.release();
      this.#wake();
    });
  }

  #wake(): void {
    let ready = 0;
    while (ready < this.#waiters.length && (this.#waiters[ready] as { revision: number }).revision <= this.#durable) ready++;
    if (ready > 0) for (const { resolve } of this.#waiters.splice(0, ready)) resolve();
  }

  #apply(event: StoreEvent): void {
    this.#set(event);
    this.#history(event.resource).push(event);
    event.previous?.release();
  }

  #set({ type, resource, stored }: StoreEvent): void {
    if (type === "DELETED") this.#table(resource).delete(stored);
    else this.#table(resource).set(stored);
  }

  #table(resource: string): Table {
    let table = this.#tables.get(resource);
    if (table === undefined) this.#tables.set(resource, (table = new Table()));
    return table;
  }

  #history(resource: string): History {
    let history = this.#histories.get(resource);
    if (history === undefined) this.#histories.set(resource, (history = new History(this.#floor)));
    return history;
  }
}

function placeOf(resource: string, { metadata }: KubeObject): ObjectKey {
  return { resource, namespace: metadata.namespace ?? "", name: metadata.name };
}
