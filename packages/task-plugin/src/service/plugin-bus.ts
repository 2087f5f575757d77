import type { Bus } from "@flyte-ts/messaging";

export type { BusMessage, Subscription } from "@flyte-ts/messaging";

/** The part of the message bus that plugin services use. */
export type PluginBus = Pick<Bus, "ensureStream" | "publish" | "publishEphemeral" | "subscribe">;
