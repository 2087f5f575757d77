import type { Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { objectKey } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { attemptKey } from "@flyte-ts/task-plugin";
import { podAttemptKey } from "../attempt-pod-names.js";

/** A take without an answer: it may have succeeded, or may still. */
export interface UnknownTake {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
  /** The take of the ended attempt that had an offered pod. */
  readonly offeredTake: string | undefined;
}

type Attempt = Pick<TaskRequest, "namespace" | "generatedName">;

/** Takes without an answer, one per attempt. No other attempt takes their pods meanwhile. */
export class UnknownTakes {
  /** `until`: the time at which the take of an ended attempt can have no effect any more, ms. */
  readonly #takes = new Map<string, { readonly take: UnknownTake; readonly until: number }>();

  constructor(private readonly clock: Pick<Time, "now">) {}

  get(attempt: Attempt): UnknownTake | undefined {
    return this.#takes.get(attemptKey(attempt))?.take;
  }

  set(attempt: Attempt, take: UnknownTake): void {
    this.#takes.set(attemptKey(attempt), { take, until: Number.POSITIVE_INFINITY });
  }

  delete(attempt: Attempt): void {
    this.#takes.delete(attemptKey(attempt));
  }

  /** Forgets the take of an ended attempt once it can have no effect any more. */
  deleteAfter(attempt: Attempt, ms: number): void {
    const take = this.get(attempt);
    if (ms <= 0) this.delete(attempt);
    else if (take !== undefined) this.#takes.set(attemptKey(attempt), { take, until: this.clock.now() + ms });
  }

  /** Forgets the take that this pod shows to have succeeded; false when it shows none. */
  settle(pod: Pod): boolean {
    if (this.#takes.size === 0) return false;
    const key = podAttemptKey(pod);
    const take = this.#takes.get(key)?.take;
    const { namespace, name, uid } = pod.metadata;
    if (take === undefined || take.namespace !== namespace || take.name !== name || take.uid !== uid) return false;
    return this.#takes.delete(key);
  }

  /** True for a pod that an attempt may have taken. */
  mayHaveTaken(pod: Pod): boolean {
    return this.pods().has(objectKey(pod));
  }

  /** Keys of the pods that attempts may have taken. */
  pods(): ReadonlySet<string> {
    const now = this.clock.now();
    for (const [key, { until }] of this.#takes) if (until <= now) this.#takes.delete(key);
    return new Set([...this.#takes.values()].map(({ take: { namespace, name } }) => `${namespace}/${name}`));
  }
}
