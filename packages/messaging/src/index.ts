export {
  type Bus,
  type BusMessage,
  type BusOptions,
  connectBus,
  type ExclusiveSubscribeOptions,
  type ExclusiveSubscription,
  type PublishOptions,
  type SubscribeOptions,
  type Subscription,
} from "./bus.js";
export { type BusScope, scopedBus } from "./scoped-bus.js";
export { PublishCancelled } from "./publish/batch-publisher.js";
export { MessageTooLarge } from "./publish/compression.js";
export { MessageLimitError, checkMessageLimits } from "./message-limits.js";
export { BusClosed } from "./retry.js";
export type { StreamSpec } from "./server/streams.js";
