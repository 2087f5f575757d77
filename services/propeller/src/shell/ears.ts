import { fromBinary } from "@bufbuild/protobuf";
import {
  decodeMessage,
  EVENT_STREAM,
  executionRecordedSubject,
  SHARDS,
  taskEventFilter,
  taskEventSubject,
  wakeSubject,
} from "@flyte-ts/domain";
import { ExecutionRecordedSchema, WakeSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, type BusMessage, type OwnSubscription, type Subscription, withinLimits } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { Observation } from "../engine/types.js";

export interface EarsOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  /** Names this process's consumer: letters, digits, `-` and `_`. */
  readonly identity: string;
  readonly observe: (key: string, observation: Observation) => void;
  /** Resolves when there is room for what further events lead to. */
  readonly room: () => Promise<void>;
}

/** After this time without its process a consumer goes, and with it what only that process would have heard. */
const CONSUMER_LIFE_MS = 300_000;

/**
 * What this process hears on the bus: the messages of its shards, and of no others.
 * It has a consumer of its own, which begins with what is published from then on:
 * whoever takes a shard over hears first and then asks, so what was said before is
 * said again.
 */
export class Ears {
  #tasks: OwnSubscription | undefined;
  readonly #volatile = new Map<number, Subscription[]>();

  constructor(private readonly options: EarsOptions) {}

  /** Resolves when the messages of these shards are heard, and of no others. */
  async follow(shards: ReadonlySet<number>): Promise<void> {
    const { bus, identity } = this.options;
    for (const [shard, subscriptions] of this.#volatile) {
      if (shards.has(shard)) continue;
      this.#volatile.delete(shard);
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
    }
    for (const shard of shards) if (!this.#volatile.has(shard)) this.#volatile.set(shard, this.#listen(shard));
    if (shards.size === 0) {
      await this.#tasks?.close();
      this.#tasks = undefined;
      return;
    }
    const subjects = shards.size === SHARDS ? [taskEventFilter] : [...shards].map(taskEventSubject);
    if (this.#tasks !== undefined) return this.#tasks.follow(subjects);
    this.#tasks = await bus.subscribeOwn(
      {
        stream: EVENT_STREAM.name,
        durable: `propeller-${identity}`,
        subjects,
        maxInFlight: 5_000,
        batch: 500,
        ownForMs: CONSUMER_LIFE_MS,
      },
      async (messages) => {
        for (const message of messages) this.#takeTaskEvent(message);
        // What is not taken yet waits on the bus, which has room for it.
        await this.options.room();
      },
    );
  }

  #listen(shard: number): Subscription[] {
    const { bus, observe } = this.options;
    return [
      bus.subscribeVolatile(executionRecordedSubject(shard), (_, data) => {
        const { workflowKey, phase } = fromBinary(ExecutionRecordedSchema, data);
        observe(workflowKey, { kind: "recorded", phase });
      }),
      bus.subscribeVolatile(wakeSubject(shard), (_, data) => {
        const { workflowKey, subject } = fromBinary(WakeSchema, data);
        if (subject.case !== undefined) observe(workflowKey, { kind: "awaited", [subject.case]: subject.value });
      }),
    ];
  }

  /**
   * Acknowledged as soon as it stands in memory: if this process ends before the
   * status is written, the next one asks the plugin service again.
   */
  #takeTaskEvent(message: BusMessage): void {
    try {
      const event = decodeMessage(TaskEventSchema, withinLimits(TaskEventSchema, message.data));
      this.options.observe(event.workflowKey, { kind: "taskEvent", event });
      message.ack();
    } catch (error) {
      message.discard(String(error));
    }
  }
}
