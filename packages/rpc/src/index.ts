// Offering services
export { createRpcServer, type RpcServer, type RpcServerOptions } from "./server.js";
export type { TlsFiles } from "./tls-listener.js";
export {
  withoutImplementation,
  implement,
  type AnswerHeaders,
  type CallContext,
  type Caller,
  type InterceptedCall,
  type Interceptor,
  type MethodImplementation,
  type ServedService,
  type ServiceImplementation,
  type Transport,
} from "./service.js";
export type { Admitted, CallGuard } from "./call-guard.js";
export { type RequestLimits, SMALL_REQUEST, uniformLimits } from "./request-limits.js";
export { Encoded } from "./encoded.js";
export { callSpans } from "./call-spans.js";
export { callLog } from "./call-log.js";
export { callMetrics } from "./call-metrics.js";
export { RequestTooLarge } from "./intake.js";
export { toSpeakableJson } from "./rest/speakable.js";
export type { HttpContext, HttpRequestHead, HttpRoute } from "./http-route.js";

// Failing
export { Code, codeName, codeOf, type CodeName } from "./code.js";
export { cutText, RpcError, toRpcError, type ErrorDetail, type RpcErrorOptions } from "./rpc-error.js";

// Calling services
export {
  createClient,
  openChannel,
  type CallOptions,
  type Channel,
  type ChannelOptions,
  type ClientMethod,
  type ServiceClient,
} from "./client.js";
