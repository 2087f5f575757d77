export { createHttpPolicy, type HttpPolicy, type HttpPolicyOptions, type Refusal, type RequestHead } from "./http-policy.js";
export { isAllowedHost, isLoopbackHost, hostNameOf } from "./host.js";
export { isWebOrigin } from "./origin.js";
