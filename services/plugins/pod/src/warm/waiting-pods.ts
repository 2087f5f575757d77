import type { Time } from "@flyte-ts/async";

/** A pod of an attempt that finds no node. */
export interface WaitingPod {
  /** Its kind; empty for a pod that serves its attempt alone. */
  readonly kind: string;
  /** Time since which it is known to wait, ms. */
  readonly since: number;
}

export interface WaitingPodsDeps {
  readonly clock: Pick<Time, "now">;
  /** Time after which idle pods cannot help a pod that still finds no node, ms. */
  readonly hopelessMs: number;
  readonly onChange: () => void;
}

/** Pods of attempts that find no node, for which idle pods make room. */
export class WaitingPods {
  readonly #pods = new Map<string, WaitingPod & { readonly isWaiting: () => boolean }>();

  constructor(private readonly deps: WaitingPodsDeps) {}

  /**
   * Handles a pod that finds no node.
   *
   * @param isWaiting true while it finds none
   */
  observe(key: string, kind: string, isWaiting: () => boolean): void {
    if (this.#pods.has(key)) return;
    this.#pods.set(key, { kind, since: this.deps.clock.now(), isWaiting });
    this.deps.onChange();
  }

  /** Pods that still wait, and for which room can help. */
  list(): readonly WaitingPod[] {
    for (const [key, { isWaiting }] of this.#pods) if (!isWaiting()) this.#pods.delete(key);
    const { clock, hopelessMs } = this.deps;
    return [...this.#pods.values()].filter(({ since }) => since > clock.now() - hopelessMs);
  }
}
