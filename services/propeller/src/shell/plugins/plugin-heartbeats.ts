import type { Bus, Subscription } from "@flyte-ts/messaging";
import { type PluginHeartbeat, receiveHeartbeats } from "@flyte-ts/task-plugin";
import type { PluginRegistry } from "./plugin-registry.js";

export interface HeartbeatConsumerOptions {
  readonly bus: Pick<Bus, "subscribeEphemeral">;
  readonly registry: PluginRegistry;
  readonly now: () => number;
  readonly onChange: () => void;
  /** Called when a process has started to serve these task types. */
  readonly onStart: (taskTypes: ReadonlySet<string>) => void;
}

const REFRESH_MS = 1_000;

/** Consumes heartbeats of plugin services until it is closed. */
export function consumePluginHeartbeats({ bus, registry, now, onChange, onStart }: HeartbeatConsumerOptions): Subscription {
  const refresh = () => {
    if (registry.refresh(now())) onChange();
  };
  const onHeartbeat = (heartbeat: PluginHeartbeat) => {
    const started = registry.onHeartbeat(heartbeat, now());
    if (started.size === 0) return;
    // Attempts that wait for a new service start at once.
    refresh();
    onStart(started);
  };
  const subscription = receiveHeartbeats({ bus, now, onHeartbeat });
  const timer = setInterval(refresh, REFRESH_MS);
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await subscription.close();
    },
  };
}
