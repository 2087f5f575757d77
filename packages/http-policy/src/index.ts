export { createHttpPolicy, type HttpPolicy, type HttpPolicyOptions, type Rejection, type RequestHead } from "./http-policy.js";
export { isAllowedHost, isLoopbackHost, parseHostName } from "./host.js";
export { isWebOrigin } from "./origin.js";
