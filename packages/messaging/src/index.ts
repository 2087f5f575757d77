export {
  type Bus,
  BusClosed,
  type BusMessage,
  type BusOptions,
  connectBus,
  type StreamSpec,
  type SubscribeOptions,
  type Subscription,
} from "./bus.js";
