export { connect } from "./client/connect.js";
export type {
  ConnectOptions,
  Execution,
  FlyteConnection,
  ListedExecution,
  ListOptions,
  LogOptions,
  LogText,
  RunArguments,
  RunOptions,
  StopOptions,
  UntypedConnection,
  WaitOptions,
} from "./client/types.js";
export type { Change, ExecutionPhase } from "./client/change.js";
export type { ConnectionSettings } from "./api/settings.js";
export type { Credentials } from "./api/credentials.js";
export { ExecutionFailed, type ExecutionFailure } from "./entity/errors.js";
export type { DeviceCode } from "./sign-in/device-flow.js";
export { SignInError } from "./sign-in/request-token.js";
