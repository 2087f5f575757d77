import { pluginHelloSubject } from "@flyte-ts/domain";
import type { Bus, Subscription } from "@flyte-ts/messaging";
import { decodeHeartbeat } from "@flyte-ts/task-plugin";
import type { PluginPresence } from "./plugin-presence.js";

export interface ListenOptions {
  readonly bus: Pick<Bus, "subscribeVolatile">;
  readonly presence: PluginPresence;
  readonly now: () => number;
  readonly onChange: () => void;
  /** Called when a process has started to serve these task types. */
  readonly onStart: (taskTypes: ReadonlySet<string>) => void;
}

const CHECK_MS = 1_000;

/** Consumes heartbeats of plugin services until it is closed. */
export function listenForPlugins({ bus, presence, now, onChange, onStart }: ListenOptions): Subscription {
  const subscription = bus.subscribeEphemeral(pluginHelloSubject, (_, data) => {
    const hello = decodeHeartbeat(data);
    if (hello === undefined) return;
    const begun = presence.heard(hello, now());
    if (begun.size > 0) onStart(begun);
  });
  const timer = setInterval(() => {
    if (presence.check(now())) onChange();
  }, CHECK_MS);
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await subscription.close();
    },
  };
}
