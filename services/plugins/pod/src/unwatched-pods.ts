import type { Time } from "@flyte-ts/async";
import { objectKey } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { podAttemptKey } from "./attempt-pod-names.js";

/** Time for which a pod may be missing from the watch, ms. */
const WATCH_LAG_MS = 5_000;

/** Pods that this process created or took, and that the watch has not shown as such yet. */
export class UnwatchedPods {
  /** By the key of their attempt. */
  readonly #pods = new Map<string, { readonly pod: Pod; readonly addedAtMs: number }>();

  constructor(private readonly clock: Pick<Time, "now">) {}

  add(attempt: string, pod: Pod): void {
    this.#pods.set(attempt, { pod, addedAtMs: this.clock.now() });
  }

  has(attempt: string): boolean {
    return this.#pods.has(attempt);
  }

  /** The attempt's pod, unless the watch should have shown it by now. */
  recent(attempt: string): Pod | undefined {
    const found = this.#pods.get(attempt);
    return found !== undefined && this.clock.now() - found.addedAtMs < WATCH_LAG_MS ? found.pod : undefined;
  }

  delete(attempt: string): void {
    this.#pods.delete(attempt);
  }

  entries(): [string, Pod][] {
    return [...this.#pods].map(([attempt, { pod }]) => [attempt, pod]);
  }

  /** True when the watch shows a pod as it was before an attempt took it here. */
  isOlder(pod: Pod): boolean {
    const shown = podAttemptKey(pod);
    return [...this.#pods.values()].some(({ pod: taken }) => objectKey(taken) === objectKey(pod) && podAttemptKey(taken) !== shown);
  }
}
