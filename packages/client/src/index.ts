export { createFlyteClient, type FlyteClient } from "./flyte.js";
export {
  Code,
  codeName,
  createClient,
  openChannel,
  RpcError,
  type CallOptions,
  type Channel,
  type ChannelOptions,
  type ClientMethod,
  type ServiceClient,
} from "@flyte-ts/rpc";
