import { WorkflowPhase } from "@flyte-ts/domain";
import type { Effect, ResourcePatch, WorkflowRun } from "../engine/types.js";

/** Which state of a resource a run knows. */
export interface StoredVersion {
  readonly resourceVersion: string;
  /** Counts the changes of all but the metadata; undefined where nobody counts them. */
  readonly generation?: number | undefined;
  /** Its deletion was asked for, which counts as a change. */
  readonly deletionRequested?: boolean | undefined;
  /** The API server keeps a record of who set which field of it. */
  readonly fieldsTracked?: boolean | undefined;
}

/** Whether nobody has changed more than the metadata between the one and the other; to ask for its deletion is no such change. */
export function sameButMetadata(base: StoredVersion, now: StoredVersion): boolean {
  if (base.generation === undefined) return false;
  const deleted = now.deletionRequested === true && base.deletionRequested !== true ? 1 : 0;
  return now.generation === base.generation + deleted;
}

/** One write of a status: the changes, and what the resource must still be for them to apply. */
export interface StatusWrite {
  readonly patch: ResourcePatch;
  readonly revision: number;
  /** What the run took as its base. */
  readonly base: StoredVersion;
}

/** Between two writes that nothing waits for, ms: what a user sees of nodes that end comes later by so much at most, and as long as the last write took. */
const REST_MS = 100;
/**
 * The last write, after which the resource is nobody's, comes so long after the one before, ms: nobody waits for it, and it would take
 * its share of the API server from executions that are under way. That of an aborted one comes at once: whoever deleted the resource sees it go.
 */
const LAST_REST_MS = 3_000;
/** Of all that waits for a write no more than this is kept waiting. */
const MOST_HELD = 1_000;

/**
 * What stands between one run and the world: which effects may be done, and when
 * its status is written. One write is in flight at a time; changes that come
 * meanwhile join the next. A write on which the execution itself waits begins at
 * once; others leave the API server alone for as long as the last one took, and a
 * little more, so that many small changes are one write. Pure, so that the
 * simulation runs the very same rules as the shell.
 */
export class RunIo {
  #durable: number;
  #stored: StoredVersion;
  /** Greatest generation of the resource that was seen. */
  #seen = 0;
  #writing: StatusWrite | undefined;
  #held: Effect[] = [];
  /** Of those held, so many keep the execution waiting. */
  #pressing = 0;
  #begunAt = 0;
  #rest: { readonly from: number; readonly until: number };

  /** `now`, ms: what a run that was just taken up does first may rest too, and one that soon ends is written once. */
  constructor(
    readonly run: WorkflowRun,
    stored: StoredVersion,
    now: number,
  ) {
    this.#durable = run.revision;
    this.#stored = stored;
    this.#rest = { from: now, until: now + REST_MS };
  }

  /** Splits off what may be done at once; the rest waits for its revision to be durable. */
  admit(effects: readonly Effect[]): Effect[] {
    const now: Effect[] = [];
    for (const effect of effects) {
      if (afterRevision(effect) > this.#durable) {
        this.#held.push(effect);
        if (this.#presses(effect)) this.#pressing++;
      } else now.push(effect);
    }
    return now;
  }

  /** Whether `nextWrite` has one now (ms). */
  wantsWrite(now: number): boolean {
    return this.#writing === undefined && this.#hasNews && !this.#rests(now);
  }

  /** The write to start now (ms), or undefined while one is in flight, nothing has changed, or what has may wait: see `writeAt`. */
  nextWrite(now: number): StatusWrite | undefined {
    if (!this.wantsWrite(now)) return undefined;
    const { revision } = this.run;
    const patch = this.run.takePatch();
    if (patch === undefined) return undefined;
    this.#writing = { patch, revision, base: this.#stored };
    this.#begunAt = now;
    return this.#writing;
  }

  /** When what has changed will be written, ms; undefined when that follows from something else. */
  get writeAt(): number | undefined {
    return this.#writing === undefined && this.#hasNews ? this.#restsUntil : undefined;
  }

  get #restsUntil(): number {
    return this.run.finished ? Math.max(this.#rest.until, this.#rest.from + LAST_REST_MS) : this.#rest.until;
  }

  get #hasNews(): boolean {
    return this.run.revision > this.#durable;
  }

  /** A clock that was set back makes no rest longer. */
  #rests(now: number): boolean {
    return now >= this.#rest.from && now < this.#restsUntil && this.#pressing === 0 && this.#held.length < MOST_HELD;
  }

  #presses({ kind }: Effect): boolean {
    if (kind === "finish") return this.run.phase === WorkflowPhase.Aborted;
    return kind !== "publish" || this.run.terminal;
  }

  /** The write in flight is durable, as of now (ms). Returns its revision and the effects that waited for it. */
  written(stored: StoredVersion, now: number): { readonly revision: number; readonly released: readonly Effect[] } {
    const write = this.#writing;
    if (write === undefined) throw new Error("no write is in flight");
    this.#writing = undefined;
    this.#durable = write.revision;
    this.#stored = stored;
    const released = this.#held.filter((effect) => afterRevision(effect) <= write.revision);
    this.#held = this.#held.filter((effect) => afterRevision(effect) > write.revision);
    this.#pressing = this.#held.filter((effect) => this.#presses(effect)).length;
    this.#rest = { from: now, until: now + Math.max(0, now - this.#begunAt) + REST_MS };
    return { revision: write.revision, released };
  }

  /** The resource was seen with this generation; 0 where nobody counts them. */
  saw(generation: number): void {
    this.#seen = Math.max(this.#seen, generation);
  }

  /** Somebody else changed more of the resource than its metadata. While a write is in flight that is not known. */
  get overtaken(): boolean {
    const { generation } = this.#stored;
    return this.#writing === undefined && generation !== undefined && this.#seen > generation;
  }

  /** How many effects wait for their revision to be durable. */
  get held(): number {
    return this.#held.length;
  }

  /** Nothing is on its way to the resource and nothing waits for it. */
  get idle(): boolean {
    return this.#writing === undefined && this.#held.length === 0;
  }
}

function afterRevision(effect: Effect): number {
  return "afterRevision" in effect ? (effect.afterRevision ?? 0) : 0;
}
