import { WorkflowPhase } from "@flyte-ts/domain/phase";
import type { Effect, ResourcePatch, WorkflowRun } from "../engine/types.js";

/** Version of the resource that a run is based on. */
export interface StoredVersion {
  readonly resourceVersion: string;
  /** Counts changes other than metadata; undefined where the API server does not count them. */
  readonly generation?: number | undefined;
  /** Deletion was requested, which increments the generation. */
  readonly deletionRequested?: boolean | undefined;
  /** The API server tracks managed fields of the resource. */
  readonly hasManagedFields?: boolean | undefined;
}

/**
 * True when only metadata changed between the two versions; a deletion request counts as metadata.
 */
export function differsInMetadataOnly(base: StoredVersion, now: StoredVersion): boolean {
  if (base.generation === undefined) return false;
  const deleted = now.deletionRequested === true && base.deletionRequested !== true ? 1 : 0;
  return now.generation === base.generation + deleted;
}

/** One status write: the patch and the version to which it applies. */
export interface StatusWrite {
  readonly patch: ResourcePatch;
  readonly revision: number;
  /** Version on which the run is based. */
  readonly base: StoredVersion;
}

/**
 * Least pause before a write that no effect waits for, ms. Users see the ends of nodes later by
 * this delay.
 */
const COALESCE_MS = 100;
/**
 * Pause after a write as a multiple of its duration: a status is being written for at most a fifth
 * of the time. An API server under load answers more slowly, and then gets fewer writes.
 */
const PAUSE_PER_WRITE = 4;
/** Pause to which that multiple is limited unless the write itself took longer, ms. */
const MAX_PAUSE_MS = 1_000;
/**
 * Delay of the final write after the previous write, ms: no effect waits for it, and it competes
 * with live executions for the API server. The final write of an aborted execution is immediate, so
 * that the deletion completes.
 */
const FINAL_WRITE_DELAY_MS = 3_000;
/**
 * Pause before a write that effects wait for, as a multiple of the duration of the last one: beside
 * other executions, when that one wrote slices. Each slice costs this process a request, however
 * few of its nodes have changed.
 */
const PAUSE_PER_SLICE_WRITE = 2;
/** Maximum of that pause, ms. */
const MAX_SLICE_PAUSE_MS = 200;
/** Maximum of effects that wait for a write; more start one at once. */
const MAX_DEFERRED = 1_000;

/**
 * Decides when effects may run and when the status is written. At most one write is in flight;
 * later changes are coalesced into the next. A write that the execution waits for starts at once;
 * other writes pause for a multiple of the duration of the last one, which combines many small
 * changes. Pure: time is an argument, and nothing is read or written here.
 */
export class WriteGate {
  #durable: number;
  #stored: StoredVersion;
  /** Greatest generation of the resource seen. */
  #seenGeneration = 0;
  #writing: StatusWrite | undefined;
  #deferred: Effect[] = [];
  /** Deferred effects that the execution waits for. */
  #urgentCount = 0;
  #writeStartedAt = 0;
  #coalescing: { readonly from: number; readonly until: number; readonly urgentUntil: number };

  /**
   * `now`, ms: the first write of a loaded run may be delayed too, so that a run which soon ends is
   * written once.
   */
  constructor(
    readonly run: WorkflowRun,
    stored: StoredVersion,
    now: number,
  ) {
    this.#durable = run.revision;
    this.#stored = stored;
    this.#coalescing = { from: now, until: now + COALESCE_MS, urgentUntil: now };
  }

  /** Returns the effects that may run now; the others wait until their revision is durable. */
  admit(effects: readonly Effect[]): Effect[] {
    const now: Effect[] = [];
    for (const effect of effects) {
      if (revisionToAwait(effect) > this.#durable) {
        this.#deferred.push(effect);
        if (this.#isUrgent(effect)) this.#urgentCount++;
      } else now.push(effect);
    }
    return now;
  }

  /**
   * True when a write may start at `now` (ms).
   *
   * @param isContended true when other executions need this process too; a write with slices then
   *   waits longer
   */
  wantsWrite(now: number, isContended = false): boolean {
    return this.#writing === undefined && this.#isDirty && !this.#isCoalescing(now, isContended);
  }

  /**
   * Returns the write to start at `now` (ms); undefined while one is in flight, nothing has
   * changed, or the change may wait: see `nextWriteAt`.
   */
  nextWrite(now: number): StatusWrite | undefined {
    if (!this.wantsWrite(now)) return undefined;
    const { revision } = this.run;
    const patch = this.run.takeStatusPatch();
    if (patch === undefined) return undefined;
    this.#writing = { patch, revision, base: this.#stored };
    this.#writeStartedAt = now;
    return this.#writing;
  }

  /**
   * Time at which pending changes are written, ms; undefined when another event triggers the write,
   * or none is pending.
   */
  get nextWriteAt(): number | undefined {
    if (this.#writing !== undefined || !this.#isDirty) return undefined;
    return this.#urgentCount > 0 ? this.#coalescing.urgentUntil : this.#coalescesUntil;
  }

  get #coalescesUntil(): number {
    return this.run.isFinalizing ? Math.max(this.#coalescing.until, this.#coalescing.from + FINAL_WRITE_DELAY_MS) : this.#coalescing.until;
  }

  get #isDirty(): boolean {
    return this.run.revision > this.#durable;
  }

  /** Ignores the pause when the clock went backwards. */
  #isCoalescing(now: number, isContended: boolean): boolean {
    if (now < this.#coalescing.from || this.#deferred.length >= MAX_DEFERRED) return false;
    if (this.#urgentCount > 0) return isContended && now < this.#coalescing.urgentUntil;
    return now < this.#coalescesUntil;
  }

  #isUrgent({ kind }: Effect): boolean {
    if (kind === "finalize") return this.run.phase === WorkflowPhase.Aborted;
    return kind !== "publish" || this.run.terminal;
  }

  /**
   * Notes that the write in flight became durable at `now` (ms). Returns its revision and the
   * effects that waited for it.
   */
  onWritten(stored: StoredVersion, now: number): { readonly revision: number; readonly released: readonly Effect[] } {
    const write = this.#writing;
    if (write === undefined) throw new Error("no write is in flight");
    this.#writing = undefined;
    this.#durable = write.revision;
    this.#stored = stored;
    const released = this.#deferred.filter((effect) => revisionToAwait(effect) <= write.revision);
    this.#deferred = this.#deferred.filter((effect) => revisionToAwait(effect) > write.revision);
    this.#urgentCount = this.#deferred.filter((effect) => this.#isUrgent(effect)).length;
    // Clocks may have been set back.
    const durationMs = Math.max(0, now - this.#writeStartedAt);
    const hasSlices = write.patch.blobs !== undefined && write.patch.blobs.length > 0;
    const urgentPauseMs = hasSlices ? Math.min(PAUSE_PER_SLICE_WRITE * durationMs, MAX_SLICE_PAUSE_MS) : 0;
    this.#coalescing = { from: now, until: now + pauseAfter(durationMs), urgentUntil: now + urgentPauseMs };
    return { revision: write.revision, released };
  }

  /** Notes the generation of a received resource; 0 where generations are not counted. */
  onGeneration(generation: number): void {
    this.#seenGeneration = Math.max(this.#seenGeneration, generation);
  }

  /**
   * True when another client changed more than the metadata; false while a write in flight leaves
   * this unknown.
   */
  get isOverwritten(): boolean {
    const { generation } = this.#stored;
    return this.#writing === undefined && generation !== undefined && this.#seenGeneration > generation;
  }

  /** Number of effects that wait for their revision to be durable. */
  get deferredCount(): number {
    return this.#deferred.length;
  }

  /** True when no write is in flight and no effect waits for one. */
  get isIdle(): boolean {
    return this.#writing === undefined && this.#deferred.length === 0;
  }
}

/** Returns the pause after a write of that duration, ms. */
function pauseAfter(durationMs: number): number {
  return Math.min(PAUSE_PER_WRITE * durationMs, Math.max(durationMs, MAX_PAUSE_MS)) + COALESCE_MS;
}

function revisionToAwait(effect: Effect): number {
  return "afterRevision" in effect ? (effect.afterRevision ?? 0) : 0;
}
