import { BoundedMap, type Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { InformerEvent, KubeObject } from "@flyte-ts/kubernetes";
import { belongsToAttempt, isSameOwner } from "./ownership.js";
import type { UnsettledCreations } from "./unsettled-creations.js";

export interface FinishedAttemptsDeps<T extends KubeObject> {
  readonly clock: Pick<Time, "now">;
  readonly creations: Pick<UnsettledCreations, "earlierMayTakeEffect" | "settlesWithinMs">;
  /** True when no process of the object's attempt runs any more. */
  readonly hasEnded: (object: T, key: string) => boolean;
}

/** An object to delete. */
interface ObsoleteObject {
  readonly uid: string | undefined;
  /** Earliest time of the deletion, ms. */
  readonly dueAtMs: number;
}

type OwnedAttempt = Pick<TaskRequest, "owner" | "workflowKey">;

const MAX_REMEMBERED = 10_000;

/**
 * Attempts that are aborted or finalized: changes of their objects (pods or resources of operators)
 * are not reported. A creation of an earlier process may take effect after the end. An ended object
 * is therefore deleted later, since it prevents another of its name; an object that appears after
 * the end is deleted at once. Keys are those of the caller's watch.
 *
 * Kept in memory. An object that appears in a later process is reported to propeller, which answers
 * events of an ended attempt with ABORT.
 */
export class FinishedAttempts<T extends KubeObject> {
  readonly #attempts = new BoundedMap<string, OwnedAttempt>(MAX_REMEMBERED);
  readonly #obsolete = new Map<string, ObsoleteObject>();

  constructor(private readonly deps: FinishedAttemptsDeps<T>) {}

  add(key: string, { owner, workflowKey }: OwnedAttempt): void {
    this.#attempts.set(key, { owner, workflowKey });
  }

  /**
   * True for an attempt of the same owner: another execution may have the name of a deleted one. A
   * request that names no owner is that of the known attempt.
   */
  has(key: string, { owner }: Pick<TaskRequest, "owner">): boolean {
    const attempt = this.#attempts.get(key);
    return attempt !== undefined && (attempt.owner === undefined || owner === undefined || isSameOwner(attempt.owner, owner));
  }

  /**
   * Notes that the object is obsolete, if it must not be deleted yet: it has ended, and a creation
   * of an earlier process may take effect. The delay is constant, so that deletions come no faster
   * than the requests for them.
   *
   * @returns the time of the deletion, ms; undefined when the object may be deleted now
   */
  deferDeletion(key: string, object: T | undefined): number | undefined {
    const { clock, creations, hasEnded } = this.deps;
    if (object === undefined || !hasEnded(object, key) || !creations.earlierMayTakeEffect) return undefined;
    const dueAtMs = clock.now() + creations.settlesWithinMs;
    this.#obsolete.set(key, { uid: object.metadata.uid, dueAtMs });
    return dueAtMs;
  }

  /**
   * Handles a change from the watch. Returns true for an object that appeared after its attempt's
   * end and must be deleted.
   */
  onEvent(key: string, { type, object, previous }: Pick<InformerEvent<T>, "type" | "object" | "previous">): boolean {
    if (type === "deleted") {
      this.#obsolete.delete(key);
      return false;
    }
    const { clock, creations, hasEnded } = this.deps;
    const attempt = this.#attempts.get(key);
    const { uid, deletionTimestamp } = object.metadata;
    const appeared = previous?.metadata.uid !== uid;
    if (attempt === undefined || !appeared || deletionTimestamp !== undefined || hasEnded(object, key)) return false;
    if (!creations.earlierMayTakeEffect || !belongsToAttempt(object, attempt)) return false;
    this.#obsolete.set(key, { uid, dueAtMs: clock.now() });
    return true;
  }

  /** True while an object of the attempt is to be deleted. */
  isObsolete(key: string): boolean {
    return this.#obsolete.has(key);
  }

  /**
   * Deletes the obsolete object if it is due.
   *
   * @param remove - deletes the object with this uid
   * @returns the time of the deletion, ms, when that is in the future; else undefined
   */
  async deleteDue(key: string, remove: (uid: string | undefined) => Promise<unknown>): Promise<number | undefined> {
    const obsolete = this.#obsolete.get(key);
    if (obsolete === undefined) return undefined;
    const { uid, dueAtMs } = obsolete;
    if (dueAtMs > this.deps.clock.now()) return dueAtMs;
    await remove(uid);
    // Meanwhile another object may have appeared.
    const next = this.#obsolete.get(key);
    if (next !== obsolete) return next?.dueAtMs;
    this.#obsolete.delete(key);
    return undefined;
  }
}
