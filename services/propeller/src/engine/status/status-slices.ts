import { nodePhases } from "@flyte-ts/domain";
import { SLICE_VERSION, type SliceRoot, type NodeStatus } from "@flyte-ts/workflow-crd";
import { type LoadedSlice, type SliceEntry, sliceUri } from "@flyte-ts/workflow-crd/slices";
import { jsonSize } from "./json-size.js";
import { mergeDiff } from "./patch.js";

/** A blob that must be durable before the patch that names it is sent. Its name is unique. */
export interface SliceBlob {
  readonly uri: string;
  readonly entries: readonly SliceEntry[];
}

/** Changes of a status's slices. */
export interface SliceChanges {
  /** Fields `slices` and `nodeCounts` of the status, as a merge patch. */
  readonly patch: Readonly<Record<string, unknown>>;
  readonly blobs: readonly SliceBlob[];
  /** Blobs that are unreferenced once the patch is durable. */
  readonly unused: readonly string[];
}

export interface SliceLimits {
  /** Nodes per slice. */
  readonly nodes: number;
  /** Approximate bytes at which a slice is full. */
  readonly bytes: number;
}

export interface SlicesInput {
  /** Address prefix of the blobs. */
  readonly prefix: string;
  readonly limits: SliceLimits;
  /** Distinguishes this process's blobs from those that another process may write concurrently. */
  readonly nonce: string;
}

/** Slices as read, with the root that names them. */
export interface StoredSlices {
  readonly root: SliceRoot;
  readonly counts: Readonly<Record<string, number>>;
  readonly loaded: readonly LoadedSlice[];
}

interface Place {
  readonly id: string;
  readonly above: Place | undefined;
  status: NodeStatus | undefined;
  bytes: number;
  slice: Slice | undefined;
  below: Map<string, Place> | undefined;
}

interface Slice {
  readonly key: string;
  readonly places: Set<Place>;
  bytes: number;
  /** Name of its blob; undefined before the first write. */
  name: string | undefined;
}

/**
 * Node statuses in slices, in order of arrival, so that nodes that start together share a slice. Only slices with
 * changes are rewritten, under new names: the root in the resource decides which of them are valid.
 */
export class StatusSlices {
  readonly #top: Place = place("", undefined);
  readonly #slices = new Map<string, Slice>();
  readonly #changed = new Set<Slice>();
  readonly #counts = new Map<number, number>();
  /** Slices with free space, the one being filled last. */
  readonly #roomy = new Set<Slice>();
  #filling: Slice | undefined;
  #nextKey = 0;
  #generation: number;
  /** State as of the last taken changes. */
  #written: { slices?: SliceRoot; nodeCounts?: Record<string, number> } = {};
  #bytes = 0;

  private constructor(
    private readonly input: SlicesInput,
    generation: number,
  ) {
    this.#generation = generation;
  }

  /** Creates it without stored state. */
  static empty(input: SlicesInput): StatusSlices {
    return new StatusSlices(input, 0);
  }

  /** Restores it from the resource and its blobs. */
  static restore(input: SlicesInput, { root, counts, loaded }: StoredSlices): StatusSlices {
    const slices = new StatusSlices({ ...input, prefix: root.prefix }, root.generation);
    for (const { key, name, entries } of loaded) {
      const slice: Slice = { key, places: new Set(), bytes: 0, name };
      slices.#slices.set(key, slice);
      slices.#nextKey = Math.max(slices.#nextKey, Number(key) + 1 || 0);
      for (const { path, status } of entries) {
        const at = slices.#make(path);
        at.slice = slice;
        slice.places.add(at);
        slices.#assign(at, status);
      }
      slices.#changed.delete(slice);
      if (slices.#hasRoom(slice)) slices.#roomy.add(slice);
    }
    slices.#written = { slices: { ...root, names: { ...root.names } }, nodeCounts: { ...counts } };
    return slices;
  }

  get prefix(): string {
    return this.input.prefix;
  }

  /** Approximate bytes of all statuses as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  set(path: readonly string[], status: NodeStatus): void {
    const at = this.#make(path);
    const { subNodeStatus: _, ...own } = status;
    at.slice ??= this.#put(at);
    this.#assign(at, own);
  }

  /** Removes the node and all below it. */
  remove(path: readonly string[]): void {
    const at = this.#find(path);
    if (at === undefined) return;
    this.#clear(at);
    at.above?.below?.delete(at.id);
  }

  /** Removes all below the node. */
  removeBelow(path: readonly string[]): void {
    const at = this.#find(path);
    for (const below of at?.below?.values() ?? []) this.#clear(below);
    if (at !== undefined) at.below = undefined;
  }

  /** Changes since the last call, or undefined when there are none. Costs as much as the changed slices. */
  take(): SliceChanges | undefined {
    if (this.#changed.size === 0) return undefined;
    this.#generation++;
    const names = { ...this.#written.slices?.names };
    const blobs: SliceBlob[] = [];
    const unused: string[] = [];
    for (const slice of this.#changed) {
      if (slice.name !== undefined) unused.push(sliceUri(this.input.prefix, slice.name));
      delete names[slice.key];
      if (slice.places.size === 0) {
        this.#forget(slice);
        continue;
      }
      slice.name = `${slice.key}.${this.#generation}.${this.input.nonce}`;
      names[slice.key] = slice.name;
      blobs.push({ uri: sliceUri(this.input.prefix, slice.name), entries: entriesOf(slice) });
    }
    this.#changed.clear();
    const root: SliceRoot = { version: SLICE_VERSION, prefix: this.input.prefix, generation: this.#generation, names };
    const next = { slices: root, nodeCounts: this.#namedCounts() };
    const patch = mergeDiff(this.#written, next) ?? {};
    this.#written = next;
    return { patch, blobs, unused };
  }

  /** Addresses of all slices that the status names, as of the last taken changes. */
  uris(): readonly string[] {
    return Object.values(this.#written.slices?.names ?? {}).map((name) => sliceUri(this.input.prefix, name));
  }

  #namedCounts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { phase, name } of nodePhases) {
      const count = this.#counts.get(phase) ?? 0;
      if (count > 0) counts[name] = count;
    }
    return counts;
  }

  #find(path: readonly string[]): Place | undefined {
    let at: Place | undefined = this.#top;
    for (const id of path) at = at?.below?.get(id);
    return at;
  }

  #make(path: readonly string[]): Place {
    let at = this.#top;
    for (const id of path) {
      at.below ??= new Map();
      let next = at.below.get(id);
      if (next === undefined) {
        next = place(id, at);
        at.below.set(id, next);
      }
      at = next;
    }
    return at;
  }

  #assign(at: Place, status: NodeStatus): void {
    const before = at.status;
    if (before !== undefined) this.#count(before.phase, -1);
    this.#count(status.phase, 1);
    this.#grow(at, jsonSize(status) + ENTRY_BYTES + at.id.length);
    at.status = status;
  }

  #clear(at: Place): void {
    for (const below of at.below?.values() ?? []) this.#clear(below);
    at.below = undefined;
    if (at.status === undefined || at.slice === undefined) return;
    this.#count(at.status.phase, -1);
    this.#grow(at, 0);
    at.slice.places.delete(at);
    if (this.#hasRoom(at.slice)) this.#roomy.add(at.slice);
    at.status = undefined;
    at.slice = undefined;
  }

  #grow(at: Place, bytes: number): void {
    const more = bytes - at.bytes;
    at.bytes = bytes;
    this.#bytes += more;
    if (at.slice === undefined) return;
    at.slice.bytes += more;
    this.#changed.add(at.slice);
  }

  #count(phase: number, change: number): void {
    this.#counts.set(phase, (this.#counts.get(phase) ?? 0) + change);
  }

  /** Assigns a slice to a new node. */
  #put(at: Place): Slice {
    let slice = this.#filling;
    if (slice === undefined || this.#full(slice) || !this.#slices.has(slice.key)) {
      [slice] = this.#roomy;
      if (slice === undefined) {
        slice = { key: String(this.#nextKey++), places: new Set(), bytes: 0, name: undefined };
        this.#slices.set(slice.key, slice);
      }
      this.#roomy.delete(slice);
      this.#filling = slice;
    }
    slice.places.add(at);
    return slice;
  }

  #full({ places, bytes }: Slice): boolean {
    return places.size >= this.input.limits.nodes || bytes >= this.input.limits.bytes;
  }

  /** Less than half full, to avoid many small slices. */
  #hasRoom(slice: Slice): boolean {
    const { nodes, bytes } = this.input.limits;
    return slice !== this.#filling && slice.places.size <= nodes / 2 && slice.bytes <= bytes / 2;
  }

  #forget(slice: Slice): void {
    this.#slices.delete(slice.key);
    this.#roomy.delete(slice);
    if (this.#filling === slice) this.#filling = undefined;
  }
}

/** Brackets, commas and the path of an entry. */
const ENTRY_BYTES = 12;

function place(id: string, above: Place | undefined): Place {
  return { id, above, status: undefined, bytes: 0, slice: undefined, below: undefined };
}

function entriesOf({ places }: Slice): readonly SliceEntry[] {
  const entries: SliceEntry[] = [];
  for (const at of places) if (at.status !== undefined) entries.push({ path: pathOf(at), status: at.status });
  return entries;
}

function pathOf(at: Place): readonly string[] {
  const path: string[] = [];
  for (let here: Place = at; here.above !== undefined; here = here.above) path.push(here.id);
  return path.reverse();
}
