export {
  type Bus,
  type BusMessage,
  type BusOptions,
  connectBus,
  type OwnSubscribeOptions,
  type OwnSubscription,
  type PublishOptions,
  type SubscribeOptions,
  type Subscription,
} from "./bus.js";
export { type BusScope, scopedBus } from "./scoped-bus.js";
export { PublishGivenUp } from "./bundled-publish.js";
export { MessageTooLarge } from "./large-message.js";
export { MessageRefused, withinLimits } from "./check-message.js";
export { BusClosed } from "./retry.js";
export type { StreamSpec } from "./streams.js";
