// For the runtime of containers and the command: executions on a server.

export { FlyteApi } from "./api/flyte-api.js";
export { signIn, signOut } from "./sign-in/sign-in.js";
export { type ExecutionName, Executions } from "./api/executions.js";
export { pollStates, waitForEnd, type WatchedState } from "./api/watch.js";
