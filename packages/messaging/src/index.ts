export {
  type Bus,
  BusClosed,
  type BusMessage,
  type BusOptions,
  connectBus,
  type OwnSubscribeOptions,
  type OwnSubscription,
  type PublishOptions,
  type StreamSpec,
  type SubscribeOptions,
  type Subscription,
} from "./bus.js";
export { type BusScope, scopedBus } from "./scoped-bus.js";
export { PublishGivenUp } from "./bundled-publish.js";
