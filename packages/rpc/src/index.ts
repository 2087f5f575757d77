// Offering services
export { createRpcServer, type RpcServer, type RpcServerOptions } from "./server/server.js";
export type { TlsFiles } from "./server/tls-listener.js";
export {
  unimplementedService,
  implement,
  type EntityTag,
  type ResponseHeaders,
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
export { type RequestLimits, SMALL_REQUEST, uniformLimits } from "./intake/request-limits.js";
export { EncodedMessage } from "./encoded-message.js";
export { callSpans } from "./interceptors/call-spans.js";
export { callLog } from "./interceptors/call-log.js";
export { callMetrics } from "./interceptors/call-metrics.js";
export { isRefusedForSize, RequestTooLarge } from "./intake/intake.js";
export { toLenientJson } from "./rest/json/lenient-json.js";
export { chooseEncoding, type Encoding } from "./rest/compression/accepted-encoding.js";
export { isNotModified } from "./rest/entity-tag.js";
export { httpStatusOf } from "./rest/http-status.js";
export type { CallMethod, HttpContext, HttpRequestHead, HttpRoute } from "./http-route.js";

// Failing
export { Code, codeName, codeOf, type CodeName } from "./code.js";
export { truncateUtf8, RpcError, toRpcError, type ErrorDetail, type RpcErrorOptions } from "./rpc-error.js";

// Calling services
export {
  createClient,
  openChannel,
  type CallOptions,
  type Channel,
  type ChannelOptions,
  type ChannelTls,
  type ClientMethod,
  type ServiceClient,
} from "./client/client.js";
