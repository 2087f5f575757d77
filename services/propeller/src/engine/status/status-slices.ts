import type { SliceLimits } from "../config.js";
import type { SliceBlob } from "../types.js";
import { nodePhases } from "@flyte-ts/domain/phase";
import { type LoadedSlice, type NodeStatus, SLICE_VERSION, type SliceEntry, type SliceRoot, sliceUri } from "@flyte-ts/workflow-crd/status";
import { jsonSize } from "./json-size.js";
import { mergeDiff } from "./patch.js";

/** Changes of a status's slices. */
export interface SliceChanges {
  /** Fields `slices` and `nodeCounts` of the status, as a merge patch. */
  readonly patch: Readonly<Record<string, unknown>>;
  readonly blobs: readonly SliceBlob[];
  /** Blobs that are unreferenced once the patch is durable. */
  readonly obsoleteSlices: readonly string[];
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

interface PathNode {
  readonly id: string;
  readonly parent: PathNode | undefined;
  status: NodeStatus | undefined;
  bytes: number;
  slice: Slice | undefined;
  children: Map<string, PathNode> | undefined;
}

interface Slice {
  readonly key: string;
  readonly entries: Set<PathNode>;
  bytes: number;
  /** Name of the slice's blob; undefined before the first write. */
  name: string | undefined;
}

/**
 * Node statuses in slices, in order of arrival, so that nodes that start together share a slice.
 * Only slices with changes are rewritten, under new names: the root in the resource decides which
 * of them are valid.
 */
export class StatusSlices {
  readonly #top: PathNode = newPathNode("", undefined);
  readonly #slices = new Map<string, Slice>();
  readonly #changed = new Set<Slice>();
  readonly #counts = new Map<number, number>();
  /** Slices with free space, the one being filled last. */
  readonly #openSlices = new Set<Slice>();
  #currentSlice: Slice | undefined;
  #nextKey = 0;
  #generation: number;
  /** State as of the last taken changes. */
  #persisted: { slices?: SliceRoot; nodeCounts?: Record<string, number> } = {};
  #bytes = 0;

  private constructor(
    private readonly input: SlicesInput,
    generation: number,
  ) {
    this.#generation = generation;
  }

  /** Creates slices without stored state. */
  static empty(input: SlicesInput): StatusSlices {
    return new StatusSlices(input, 0);
  }

  /** Restores slices from the resource and its blobs. */
  static restore(input: SlicesInput, { root, counts, loaded }: StoredSlices): StatusSlices {
    const slices = new StatusSlices({ ...input, prefix: root.prefix }, root.generation);
    for (const { key, name, entries } of loaded) {
      const slice: Slice = { key, entries: new Set(), bytes: 0, name };
      slices.#slices.set(key, slice);
      slices.#nextKey = Math.max(slices.#nextKey, Number(key) + 1 || 0);
      for (const { path, status } of entries) {
        const at = slices.#findOrCreate(path);
        at.slice = slice;
        slice.entries.add(at);
        slices.#assign(at, status);
      }
      slices.#changed.delete(slice);
      if (slices.#isHalfEmpty(slice)) slices.#openSlices.add(slice);
    }
    slices.#persisted = { slices: { ...root, names: { ...root.names } }, nodeCounts: { ...counts } };
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
    const at = this.#findOrCreate(path);
    const { subNodeStatus: _, ...own } = status;
    at.slice ??= this.#assignSlice(at);
    this.#assign(at, own);
  }

  /** Removes the node and all below it. */
  remove(path: readonly string[]): void {
    const at = this.#find(path);
    if (at === undefined) return;
    this.#clear(at);
    at.parent?.children?.delete(at.id);
  }

  /** Removes all below the node. */
  removeBelow(path: readonly string[]): void {
    const at = this.#find(path);
    for (const below of at?.children?.values() ?? []) this.#clear(below);
    if (at !== undefined) at.children = undefined;
  }

  /**
   * Changes since the last call, or undefined when there are none. Costs as much as the changed
   * slices.
   */
  collectChanges(): SliceChanges | undefined {
    if (this.#changed.size === 0) return undefined;
    this.#generation++;
    const names = { ...this.#persisted.slices?.names };
    const blobs: SliceBlob[] = [];
    const obsoleteSlices: string[] = [];
    for (const slice of this.#changed) {
      if (slice.name !== undefined) obsoleteSlices.push(sliceUri(this.input.prefix, slice.name));
      delete names[slice.key];
      if (slice.entries.size === 0) {
        this.#removeSlice(slice);
        continue;
      }
      slice.name = `${slice.key}.${this.#generation}.${this.input.nonce}`;
      names[slice.key] = slice.name;
      blobs.push({ uri: sliceUri(this.input.prefix, slice.name), entries: entriesOf(slice) });
    }
    this.#changed.clear();
    const root: SliceRoot = { version: SLICE_VERSION, prefix: this.input.prefix, generation: this.#generation, names };
    const next = { slices: root, nodeCounts: this.#namedCounts() };
    const patch = mergeDiff(this.#persisted, next) ?? {};
    this.#persisted = next;
    return { patch, blobs, obsoleteSlices };
  }

  /** Addresses of all slices that the status names, as of the last taken changes. */
  uris(): readonly string[] {
    return Object.values(this.#persisted.slices?.names ?? {}).map((name) => sliceUri(this.input.prefix, name));
  }

  #namedCounts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { phase, name } of nodePhases) {
      const count = this.#counts.get(phase) ?? 0;
      if (count > 0) counts[name] = count;
    }
    return counts;
  }

  #find(path: readonly string[]): PathNode | undefined {
    let at: PathNode | undefined = this.#top;
    for (const id of path) at = at?.children?.get(id);
    return at;
  }

  #findOrCreate(path: readonly string[]): PathNode {
    let at = this.#top;
    for (const id of path) {
      at.children ??= new Map();
      let next = at.children.get(id);
      if (next === undefined) {
        next = newPathNode(id, at);
        at.children.set(id, next);
      }
      at = next;
    }
    return at;
  }

  #assign(at: PathNode, status: NodeStatus): void {
    const before = at.status;
    if (before !== undefined) this.#count(before.phase, -1);
    this.#count(status.phase, 1);
    this.#resize(at, jsonSize(status) + ENTRY_BYTES + at.id.length);
    at.status = status;
  }

  #clear(at: PathNode): void {
    for (const below of at.children?.values() ?? []) this.#clear(below);
    at.children = undefined;
    if (at.status === undefined || at.slice === undefined) return;
    this.#count(at.status.phase, -1);
    this.#resize(at, 0);
    at.slice.entries.delete(at);
    if (this.#isHalfEmpty(at.slice)) this.#openSlices.add(at.slice);
    at.status = undefined;
    at.slice = undefined;
  }

  #resize(at: PathNode, bytes: number): void {
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
  #assignSlice(at: PathNode): Slice {
    let slice = this.#currentSlice;
    if (slice === undefined || this.#isFull(slice) || !this.#slices.has(slice.key)) {
      [slice] = this.#openSlices;
      if (slice === undefined) {
        slice = { key: String(this.#nextKey++), entries: new Set(), bytes: 0, name: undefined };
        this.#slices.set(slice.key, slice);
      }
      this.#openSlices.delete(slice);
      this.#currentSlice = slice;
    }
    slice.entries.add(at);
    return slice;
  }

  #isFull({ entries, bytes }: Slice): boolean {
    return entries.size >= this.input.limits.nodes || bytes >= this.input.limits.bytes;
  }

  /**
   * True when the slice is at most half full and not the current one; such slices are filled again,
   * to avoid many small ones.
   */
  #isHalfEmpty(slice: Slice): boolean {
    const { nodes, bytes } = this.input.limits;
    return slice !== this.#currentSlice && slice.entries.size <= nodes / 2 && slice.bytes <= bytes / 2;
  }

  #removeSlice(slice: Slice): void {
    this.#slices.delete(slice.key);
    this.#openSlices.delete(slice);
    if (this.#currentSlice === slice) this.#currentSlice = undefined;
  }
}

/** Brackets, commas and the path of an entry. */
const ENTRY_BYTES = 12;

function newPathNode(id: string, above: PathNode | undefined): PathNode {
  return { id, parent: above, status: undefined, bytes: 0, slice: undefined, children: undefined };
}

function entriesOf({ entries: places }: Slice): readonly SliceEntry[] {
  const entries: SliceEntry[] = [];
  for (const at of places) if (at.status !== undefined) entries.push({ path: pathOf(at), status: at.status });
  return entries;
}

function pathOf(at: PathNode): readonly string[] {
  const path: string[] = [];
  for (let here: PathNode = at; here.parent !== undefined; here = here.parent) path.push(here.id);
  return path.reverse();
}
