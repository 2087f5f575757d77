export { createFlyteClient, type FlyteClient } from "./flyte-client.js";
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
export { type ResumableMessage, type ResumeOptions, resumeStream } from "./resume-stream.js";
