import type { Running } from "../launcher/start.js";
import { deliver, type DeliverDeps, leaseMsOf } from "./deliver.js";
import { laneOf, takeDeliveries, type TakenDelivery } from "./delivery-store.js";

export interface SenderLimits {
  /** Messages that are sent at once, in all and in one lane. */
  readonly inFlight: number;
  readonly perLane: number;
  /** How often it is looked for messages that are due. */
  readonly pollMs: number;
}

/** Sends what is due until it is closed. A receiver that does not answer holds up its own lane. */
export function startSender(deps: DeliverDeps, limits: SenderLimits): Running {
  const sender = new Sender(deps, limits);
  const running = sender.run();
  return {
    close: async () => {
      sender.stop();
      await running;
    },
  };
}

class Sender {
  readonly #deps: DeliverDeps;
  readonly #limits: SenderLimits;
  readonly #working = new Set<Promise<void>>();
  readonly #lanes = new Map<string, number>();
  #stopped = false;
  #woken = false;
  #wake: () => void = () => undefined;

  constructor(deps: DeliverDeps, limits: SenderLimits) {
    this.#deps = deps;
    this.#limits = limits;
  }

  stop(): void {
    this.#stopped = true;
    this.#goOn();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const taken = await this.#take();
      for (const delivery of taken) this.#start(delivery);
      if (taken.length === 0) await this.#pause();
    }
    await Promise.all(this.#working);
  }

  async #take(): Promise<readonly TakenDelivery[]> {
    const { inFlight, perLane } = this.#limits;
    const limit = inFlight - this.#working.size;
    if (limit <= 0) return [];
    // A lane is filled again when it is empty: what is under way in it tells how fast it is.
    const full = [...this.#lanes.keys()];
    try {
      return await takeDeliveries(this.#deps.db, { limit, leaseMs: leaseMsOf(this.#deps.config), full, perLane });
    } catch (error) {
      this.#deps.logger.warn({ error: String(error) }, "notifications cannot be taken now");
      return [];
    }
  }

  #start(delivery: TakenDelivery): void {
    const lane = laneOf(delivery);
    this.#lanes.set(lane, (this.#lanes.get(lane) ?? 0) + 1);
    const work = deliver(this.#deps, delivery).finally(() => {
      this.#working.delete(work);
      const left = (this.#lanes.get(lane) ?? 1) - 1;
      if (left === 0) this.#lanes.delete(lane);
      else this.#lanes.set(lane, left);
      this.#goOn();
    });
    this.#working.add(work);
  }

  #goOn(): void {
    this.#woken = true;
    this.#wake();
  }

  async #pause(): Promise<void> {
    if (this.#woken || this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#limits.pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
