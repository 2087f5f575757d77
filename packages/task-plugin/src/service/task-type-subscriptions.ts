import type { Time } from "@flyte-ts/async";
import {
  encodeHeartbeat,
  HEARTBEAT_INTERVAL_MS,
  pluginHelloSubject,
  type PluginLoad,
  TASK_STREAM,
  taskRequestFilter,
  taskTypeHelloSubject,
  taskTypeToken,
} from "@flyte-ts/bus-contract";
import type { Bus } from "@flyte-ts/messaging";
import type { BusMessage, PluginBus, Subscription } from "./plugin-bus.js";

export interface TaskTypeSubscriptionsOptions {
  readonly bus: Pick<PluginBus, "subscribe" | "publishEphemeral">;
  readonly clock: Time;
  /** Name of the plugin, for heartbeats. */
  readonly name: string;
  /** Identifies the process in heartbeats. */
  readonly instance: string;
  /** Maximum of unacknowledged requests per task type, over all replicas. */
  readonly maxInFlight: number;
  /** Work of the process, for heartbeats. */
  readonly load: () => PluginLoad;
  readonly onMessage: (message: BusMessage, taskType: string) => Promise<void>;
}

interface Served {
  /** Number of the change that added the type; 0 for those of the start. */
  readonly generation: number;
  readonly sinceMs: number;
  /** Undefined until the bus has created the consumer. */
  subscription: Subscription | undefined;
  removed: boolean;
}

/** Number of requests handled between yields to the event loop. */
const MAX_BATCH = 64;

// Exceeds the time that a pod takes to stop and that neighbouring calls take to time out.
const ACK_WAIT_MS = 60_000;

/**
 * Subscribes to the requests of a set of task types, which may change, and announces the set with
 * heartbeats.
 *
 * Types that were added together have a heartbeat of their own, whose uptime counts from the
 * addition: propeller sends again what a previous process may have taken for these types, as after
 * the start of a service.
 */
export class TaskTypeSubscriptions {
  readonly #served = new Map<string, Served>();
  #generation = 0;
  #closed = false;
  #cancelHeartbeat: () => void = () => undefined;

  constructor(private readonly options: TaskTypeSubscriptionsOptions) {}

  /** Task types that are served now. */
  get taskTypes(): readonly string[] {
    return [...this.#served.keys()];
  }

  /**
   * Replaces the set and announces it. Resolves when the types that left are no longer received and
   * those that came are.
   *
   * @throws the error of the bus for a type to which it cannot subscribe; the type is then not
   *   served, and the others are.
   */
  async set(taskTypes: readonly string[]): Promise<void> {
    if (this.#closed) return;
    const wanted = new Set(taskTypes);
    const left = [...this.#served].filter(([taskType]) => !wanted.has(taskType));
    for (const [taskType] of left) this.#served.delete(taskType);
    const added = [...wanted].filter((taskType) => !this.#served.has(taskType));
    const generation = this.#generation;
    if (added.length > 0) this.#generation++;
    const subscribing = added.map((taskType) => this.#add(taskType, generation));
    this.announce();
    await Promise.all([...left.map(([, served]) => remove(served)), ...subscribing]);
  }

  /** Sends a heartbeat now, and every ten seconds from now on. */
  announce(): void {
    this.#cancelHeartbeat();
    if (this.#closed) return;
    const { bus, clock, name, load } = this.options;
    const now = clock.now();
    for (const [generation, { taskTypes, sinceMs }] of this.#generations()) {
      const instance = generation === 0 ? this.options.instance : `${this.options.instance}/${generation}`;
      const heartbeat = { name, instance, uptimeMs: now - sinceMs, load: load() };
      for (const taskType of taskTypes)
        bus.publishEphemeral(taskTypeHelloSubject(taskType), encodeHeartbeat({ ...heartbeat, taskTypes: [taskType] }));
      // For receivers of a version that does not know the subjects of single types.
      bus.publishEphemeral(pluginHelloSubject, encodeHeartbeat({ ...heartbeat, taskTypes }));
    }
    this.#cancelHeartbeat = clock.schedule(HEARTBEAT_INTERVAL_MS, () => this.announce());
  }

  /** Stops the heartbeats and waits for the requests that are being handed over. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#cancelHeartbeat();
    await Promise.all([...this.#served.values()].map(remove));
  }

  #generations(): Map<number, { readonly taskTypes: string[]; readonly sinceMs: number }> {
    const generations = new Map<number, { readonly taskTypes: string[]; readonly sinceMs: number }>();
    for (const [taskType, { generation, sinceMs }] of this.#served) {
      const known = generations.get(generation);
      if (known === undefined) generations.set(generation, { taskTypes: [taskType], sinceMs });
      else known.taskTypes.push(taskType);
    }
    return generations;
  }

  async #add(taskType: string, generation: number): Promise<void> {
    const served: Served = { generation, sinceMs: this.options.clock.now(), subscription: undefined, removed: false };
    this.#served.set(taskType, served);
    try {
      served.subscription = await this.#subscribe(taskType, served);
    } catch (error) {
      if (this.#served.get(taskType) === served) this.#served.delete(taskType);
      if (!served.removed) throw error;
    }
    if (served.removed) await served.subscription?.close();
  }

  #subscribe(taskType: string, served: Served): Promise<Subscription> {
    const { bus, name, maxInFlight, onMessage } = this.options;
    const options = {
      stream: TASK_STREAM.name,
      durable: durableName(taskType),
      owner: name,
      subjects: [taskRequestFilter(taskType)],
      maxInFlight,
      batch: MAX_BATCH,
      ackWaitMs: ACK_WAIT_MS,
    };
    return bus.subscribe(options, async (messages) => {
      // The bus delivers messages of a removed type to the service that has it now.
      if (served.removed) for (const message of messages) message.nak();
      else await Promise.all(messages.map((message) => onMessage(message, taskType)));
    });
  }
}

export interface FindUnclaimedOptions {
  readonly bus: Pick<Bus, "findConsumers">;
  /** Name of the plugin that asks. */
  readonly name: string;
  readonly taskTypes: readonly string[];
}

/**
 * Returns those of the task types that no other plugin service has ever received, by the consumers
 * on the bus: they stay when a service ends. Consumers of versions that name no owner count as
 * those of others.
 *
 * @throws the error of the bus
 */
export async function findUnclaimedTaskTypes({ bus, name, taskTypes }: FindUnclaimedOptions): Promise<ReadonlySet<string>> {
  const owners = await bus.findConsumers(TASK_STREAM.name, taskTypes.map(durableName));
  return new Set(taskTypes.filter((taskType) => (owners.get(durableName(taskType)) ?? name) === name));
}

/** Does not wait for a consumer that the bus has not created yet: `#add` closes it. */
async function remove(served: Served): Promise<void> {
  served.removed = true;
  await served.subscription?.close();
}

/** Name of the consumer that the replicas of a plugin share. */
function durableName(taskType: string): string {
  return `plugin-${taskTypeToken(taskType)}`;
}
