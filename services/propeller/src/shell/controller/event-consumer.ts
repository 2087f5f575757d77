import { fromBinary } from "@bufbuild/protobuf";
import { EVENT_STREAM, executionRecordedSubject, executionWakeSubject, taskEventFilter, taskEventSubject } from "@flyte-ts/bus-contract";
import { SHARD_COUNT } from "@flyte-ts/domain/name";
import { decodeMessage } from "@flyte-ts/proto-codec";
import { ExecutionRecordedSchema, WakeSchema } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { TaskEventSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type Bus, type BusMessage, type ExclusiveSubscription, type Subscription, checkMessageLimits } from "@flyte-ts/messaging";
import type { Logger } from "@flyte-ts/telemetry";
import type { Observation } from "../../engine/types.js";

export interface EventConsumerOptions {
  readonly bus: Bus;
  readonly logger: Logger;
  /** Consumer name of this process: letters, digits, `-` and `_`. */
  readonly identity: string;
  readonly observe: (key: string, observation: Observation) => void;
  /** Resolves when there is capacity for the effects of further events. */
  readonly whenCapacity: () => Promise<void>;
}

/** Inactivity after which the bus deletes a consumer and its unread messages. */
const CONSUMER_INACTIVE_MS = 300_000;

/**
 * Consumes task events and wake-ups of the shards that this process holds. Its own consumer starts
 * at the newest message: a new holder of a shard subscribes first and then resends its requests,
 * which makes plugins report again.
 */
export class EventConsumer {
  #tasks: ExclusiveSubscription | undefined;
  readonly #ephemeral = new Map<number, Subscription[]>();

  constructor(private readonly options: EventConsumerOptions) {}

  /** Resolves when exactly the messages of these shards are consumed. */
  async setShards(shards: ReadonlySet<number>): Promise<void> {
    const { bus, identity } = this.options;
    for (const [shard, subscriptions] of this.#ephemeral) {
      if (shards.has(shard)) continue;
      this.#ephemeral.delete(shard);
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
    }
    for (const shard of shards) if (!this.#ephemeral.has(shard)) this.#ephemeral.set(shard, this.#subscribeShard(shard));
    if (shards.size === 0) {
      await this.#tasks?.close();
      this.#tasks = undefined;
      return;
    }
    const subjects = shards.size === SHARD_COUNT ? [taskEventFilter] : [...shards].map(taskEventSubject);
    if (this.#tasks !== undefined) return this.#tasks.setSubjects(subjects);
    this.#tasks = await bus.subscribeExclusive(
      {
        stream: EVENT_STREAM.name,
        durable: `propeller-${identity}`,
        subjects,
        maxInFlight: 5_000,
        batch: 64,
        inactiveThresholdMs: CONSUMER_INACTIVE_MS,
      },
      async (messages) => {
        for (const message of messages) this.#onTaskEvent(message);
        // Messages not pulled yet wait on the bus.
        await this.options.whenCapacity();
      },
    );
  }

  #subscribeShard(shard: number): Subscription[] {
    const { bus, observe } = this.options;
    return [
      bus.subscribeEphemeral(executionRecordedSubject(shard), (_, data) => {
        const { workflowKey, phase } = fromBinary(ExecutionRecordedSchema, data);
        observe(workflowKey, { kind: "endRecorded", phase });
      }),
      bus.subscribeEphemeral(executionWakeSubject(shard), (_, data) => {
        const { workflowKey, subject } = fromBinary(WakeSchema, data);
        if (subject.case !== undefined) observe(workflowKey, { kind: "wakeup", [subject.case]: subject.value });
      }),
    ];
  }

  /**
   * Acknowledged once in memory: if this process ends before the status write, the next holder
   * resends the request.
   */
  #onTaskEvent(message: BusMessage): void {
    try {
      const event = decodeMessage(TaskEventSchema, checkMessageLimits(TaskEventSchema, message.data));
      this.options.observe(event.workflowKey, { kind: "taskEvent", event });
      message.ack();
    } catch (error) {
      message.discard(String(error));
    }
  }
}
