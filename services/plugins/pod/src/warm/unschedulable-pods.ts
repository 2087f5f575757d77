import type { Time } from "@flyte-ts/async";

/** Time in which a pod is scheduled once idle pods were deleted for it, ms. */
const SCHEDULING_MS = 5_000;

export interface UnschedulablePodsDeps {
  readonly clock: Pick<Time, "schedule">;
  /** Deletes idle pods: first those of kinds that are not in use. */
  readonly giveWay: () => void;
}

/** Lets idle pods give way to pods that find no node: once, and again if that was not enough. */
export class UnschedulablePods {
  readonly #pending = new Map<string, () => void>();

  constructor(private readonly deps: UnschedulablePodsDeps) {}

  /**
   * Handles a pod that finds no node.
   *
   * @param pod its key
   * @param isWaiting true while it finds none
   */
  observe(pod: string, isWaiting: () => boolean): void {
    if (this.#pending.has(pod)) return;
    const { clock, giveWay } = this.deps;
    giveWay();
    const cancel = clock.schedule(SCHEDULING_MS, () => {
      this.#pending.delete(pod);
      if (isWaiting()) giveWay();
    });
    this.#pending.set(pod, cancel);
  }

  stop(): void {
    for (const cancel of this.#pending.values()) cancel();
    this.#pending.clear();
  }
}
