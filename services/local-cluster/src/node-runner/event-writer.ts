import { EVENTS, isAlreadyExists, isTransient, type KubeClient, type KubeObject as ApiObject } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import { at, type KubeObject } from "../object/model.js";

/** Maximum number of queued events; further ones are dropped, since events are informational. */
const MAX_QUEUE_SIZE = 1_000;

/** Writes events sequentially; failed writes are lost. */
export class EventWriter {
  readonly #queue: KubeObject[] = [];
  #busy = false;
  #closed = false;

  constructor(private readonly options: { readonly client: KubeClient; readonly logger: Logger }) {}

  add(event: KubeObject): void {
    if (this.#closed || this.#queue.length >= MAX_QUEUE_SIZE) return;
    this.#queue.push(event);
    if (!this.#busy) void this.#drain();
  }

  close(): void {
    this.#closed = true;
    this.#queue.length = 0;
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
      try {
        await this.#write(event);
      } catch (error) {
        const { logger } = this.options;
        logger[isTransient(error) ? "warn" : "debug"]({ event: event.metadata.name, error: String(error) }, "failed to write the event");
      }
    }
    this.#busy = false;
  }

  async #write(event: KubeObject): Promise<void> {
    const { client } = this.options;
    try {
      await client.create(EVENTS, event as unknown as ApiObject);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      const body = { count: at(event, "count"), lastTimestamp: at(event, "lastTimestamp") };
      await client.mergePatch(EVENTS, { namespace: event.metadata.namespace, name: event.metadata.name, body });
    }
  }
}
