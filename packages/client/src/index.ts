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
export { type Resumable, type ResumeOptions, resumed } from "./resumed.js";
