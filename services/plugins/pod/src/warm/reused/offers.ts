import type { Time } from "@flyte-ts/async";
import { objectKey } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { type Candidate, kindOf } from "../idle-pod.js";

interface Offer extends Candidate {
  readonly close: (isTaken: boolean) => void;
}

/** Time for which a pod is offered before it becomes idle, ms. */
const OFFER_MS = 2_000;

/**
 * Pods whose attempts have ended, and that the next attempt can take before they become idle. Their
 * kubelets then show one change instead of two, which take a second each.
 */
export class Offers {
  readonly #offers = new Map<string, Offer>();

  constructor(private readonly clock: Pick<Time, "schedule">) {}

  /** Offers a pod. Resolves to true once an attempt takes it, to false when it has to be freed. */
  async offer({ pod, settledAt }: Candidate): Promise<boolean> {
    const key = objectKey(pod);
    // A repeated request replaces the offer of the first one.
    this.#offers.get(key)?.close(false);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancelTimer = this.clock.schedule(OFFER_MS, () => offer.close(false));
    const offer: Offer = {
      pod,
      settledAt,
      close: (isTaken) => {
        cancelTimer();
        if (this.#offers.get(key) === offer) this.#offers.delete(key);
        resolve(isTaken);
      },
    };
    this.#offers.set(key, offer);
    return promise;
  }

  list(kind: string): readonly Candidate[] {
    return [...this.#offers.values()].filter(({ pod }) => kindOf(pod) === kind);
  }

  /** Ends the offer of a pod that an attempt has taken. */
  taken(pod: Pod): void {
    this.#offers.get(objectKey(pod))?.close(true);
  }

  /** Ends all offers, so that the pods become idle. */
  closeAll(): void {
    for (const offer of this.#offers.values()) offer.close(false);
  }
}
