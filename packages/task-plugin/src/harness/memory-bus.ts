import { fromBinary } from "@bufbuild/protobuf";
import { type TaskEvent, TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { BusMessage, PluginBus, Subscription } from "../service/plugin-bus.js";

type Handler = (messages: readonly BusMessage[]) => Promise<void> | void;

interface Consumer {
  readonly filters: readonly string[];
  readonly handler: Handler;
}

/**
 * An in-memory message bus: unacknowledged messages can be redelivered, also to a later process.
 */
export class MemoryBus implements PluginBus {
  /** All messages given to `publish`, in order. */
  readonly published: { readonly subject: string; readonly data: Uint8Array }[] = [];
  readonly ephemeral: { readonly subject: string; readonly data: Uint8Array }[] = [];
  readonly #consumers = new Set<Consumer>();
  readonly #stored: StoredMessage[] = [];
  /** Number of next publications that are acknowledged to the publisher but lost. */
  dropNext = 0;

  /** Number of unacknowledged messages. */
  get unacknowledged(): number {
    return this.#stored.filter((message) => !message.acked).length;
  }

  /** Reasons of the dead letters. */
  get deadLetterReasons(): string[] {
    return this.#stored.flatMap(({ deadLetterReason }) => deadLetterReason ?? []);
  }

  /** Published task events, in order. */
  get events(): TaskEvent[] {
    return this.published.map(({ data }) => fromBinary(TaskEventSchema, data));
  }

  ensureStream(): Promise<void> {
    return Promise.resolve();
  }

  async publish(subject: string, data: Uint8Array): Promise<void> {
    await Promise.resolve();
    if (this.dropNext > 0) this.dropNext--;
    else this.published.push({ subject, data });
  }

  publishEphemeral(subject: string, data: Uint8Array): void {
    this.ephemeral.push({ subject, data });
  }

  subscribe(options: Parameters<PluginBus["subscribe"]>[0], handler: Handler): Promise<Subscription> {
    const consumer: Consumer = { filters: options.subjects, handler };
    this.#consumers.add(consumer);
    return Promise.resolve({
      close: () => {
        this.#consumers.delete(consumer);
        return Promise.resolve();
      },
    });
  }

  /** Stores a request in the stream and delivers it to its consumer. */
  async send(subject: string, data: Uint8Array): Promise<void> {
    const message = new StoredMessage(subject, data);
    this.#stored.push(message);
    await this.#deliver(message);
  }

  /** Redelivers unacknowledged messages, as after the acknowledgement timeout. */
  async redeliver(): Promise<void> {
    for (const message of this.#stored.filter((open) => !open.acked)) await this.#deliver(message);
  }

  async #deliver(message: StoredMessage): Promise<void> {
    message.deliveries++;
    for (const { filters, handler } of this.#consumers) {
      if (filters.some((filter) => matches(filter, message.subject))) await handler([message.view()]);
    }
  }
}

class StoredMessage {
  deliveries = 0;
  acked = false;
  deadLetterReason: string | undefined;

  constructor(
    readonly subject: string,
    readonly data: Uint8Array,
  ) {}

  view(): BusMessage {
    return {
      subject: this.subject,
      data: this.data,
      deliveries: this.deliveries,
      ack: () => {
        this.acked = true;
      },
      nak: () => undefined,
      discard: (reason) => {
        this.acked = true;
        this.deadLetterReason = reason;
      },
    };
  }
}

function matches(filter: string, subject: string): boolean {
  const expected = filter.split(".");
  const tokens = subject.split(".");
  return expected.length === tokens.length && expected.every((token, i) => token === "*" || token === tokens[i]);
}
