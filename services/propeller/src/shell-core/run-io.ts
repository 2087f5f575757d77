import type { Effect, ResourcePatch, WorkflowRun } from "../engine/types.js";

/** Which state of a resource a run knows. */
export interface StoredVersion {
  readonly resourceVersion: string;
  /** Counts the changes of all but the metadata; undefined where nobody counts them. */
  readonly generation?: number | undefined;
}

/** One write of a status: the changes, and what the resource must still be for them to apply. */
export interface StatusWrite {
  readonly patch: ResourcePatch;
  readonly revision: number;
  /** What the run took as its base. */
  readonly base: StoredVersion;
}

/**
 * What stands between one run and the world: which effects may be done, and when
 * its status is written. One write is in flight at a time; changes that come
 * meanwhile join the next. Pure, so that the simulation runs the very same rules
 * as the shell.
 */
export class RunIo {
  #durable: number;
  #stored: StoredVersion;
  #writing: StatusWrite | undefined;
  #held: Effect[] = [];

  constructor(
    readonly run: WorkflowRun,
    stored: StoredVersion,
  ) {
    this.#durable = run.revision;
    this.#stored = stored;
  }

  /** Splits off what may be done at once; the rest waits for its revision to be durable. */
  admit(effects: readonly Effect[]): Effect[] {
    const now: Effect[] = [];
    for (const effect of effects) {
      if (afterRevision(effect) > this.#durable) this.#held.push(effect);
      else now.push(effect);
    }
    return now;
  }

  /** The write to start now, or undefined while one is in flight or nothing has changed. */
  nextWrite(): StatusWrite | undefined {
    if (this.#writing !== undefined) return undefined;
    const { revision } = this.run;
    const patch = this.run.takePatch();
    if (patch === undefined) return undefined;
    this.#writing = { patch, revision, base: this.#stored };
    return this.#writing;
  }

  /** The write in flight is durable. Returns its revision and the effects that waited for it. */
  written(stored: StoredVersion): { readonly revision: number; readonly released: readonly Effect[] } {
    const write = this.#writing;
    if (write === undefined) throw new Error("no write is in flight");
    this.#writing = undefined;
    this.#durable = write.revision;
    this.#stored = stored;
    const released = this.#held.filter((effect) => afterRevision(effect) <= write.revision);
    this.#held = this.#held.filter((effect) => afterRevision(effect) > write.revision);
    return { revision: write.revision, released };
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
