import { BoundedMap } from "@flyte-ts/async";
import {
  decodeHeartbeat,
  HEARTBEAT_TIMEOUT_MS,
  type PluginHeartbeat,
  pluginHelloSubject,
  taskTypeHelloFilter,
  taskTypeToken,
} from "@flyte-ts/bus-contract";
import type { Bus, Subscription } from "@flyte-ts/messaging";

export interface ReceiveHeartbeatsOptions {
  readonly bus: Pick<Bus, "subscribeEphemeral">;
  /** Milliseconds. */
  readonly now: () => number;
  /** Receives each heartbeat with the task types that its sender may announce; never none. */
  readonly onHeartbeat: (heartbeat: PluginHeartbeat) => void;
}

/** Bounds what a client that may publish heartbeats can invent. */
const MAX_TRACKED = 1_000;

/**
 * Receives the heartbeats of plugin services until it is closed.
 *
 * The bus lets a service send on the subjects of its own task types alone. A type that was
 * announced there within {@link HEARTBEAT_TIMEOUT_MS} cannot be announced on the subject that all
 * services share, which versions without subjects of single types use.
 */
export function receiveHeartbeats({ bus, now, onHeartbeat }: ReceiveHeartbeatsOptions): Subscription {
  const provenAt = new BoundedMap<string, number>(MAX_TRACKED);
  const isProven = (taskType: string) => now() - (provenAt.get(taskType) ?? Number.NEGATIVE_INFINITY) < HEARTBEAT_TIMEOUT_MS;
  const receive = (data: Uint8Array, select: (taskTypes: readonly string[]) => readonly string[]): void => {
    const heartbeat = decodeHeartbeat(data);
    if (heartbeat === undefined) return;
    const taskTypes = select(heartbeat.taskTypes);
    if (taskTypes.length > 0) onHeartbeat({ ...heartbeat, taskTypes });
  };
  const subscriptions = [
    bus.subscribeEphemeral(taskTypeHelloFilter, (subject, data) => {
      const token = subject.slice(subject.lastIndexOf(".") + 1);
      receive(data, (taskTypes) => {
        const own = taskTypes.filter((taskType) => taskTypeToken(taskType) === token);
        for (const taskType of own) provenAt.set(taskType, now());
        return own;
      });
    }),
    bus.subscribeEphemeral(pluginHelloSubject, (_, data) => {
      receive(data, (taskTypes) => taskTypes.filter((taskType) => !isProven(taskType)));
    }),
  ];
  return { close: async () => void (await Promise.all(subscriptions.map((subscription) => subscription.close()))) };
}
