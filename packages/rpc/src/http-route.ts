import type { IncomingMessage, ServerResponse } from "node:http";
import type { DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";

/** Context of a plain HTTP handler besides the request. */
export interface HttpContext {
  readonly requestId: string;
  /** Aborted when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /** Path as sent (not decoded), without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /**
   * Reads the whole body. It counts against the server's memory for requests until the response
   * closes.
   *
   * @throws RpcError RESOURCE_EXHAUSTED: a {@link import("./intake.js").RequestTooLarge} for a
   *   longer body, another
   * when other requests use too much memory. CANCELLED when the request breaks off.
   */
  readonly readBody: (maxBytes: number) => Promise<Uint8Array>;
  /** Calls a method of the server as the client of this request, who must be permitted to. */
  readonly call: CallMethod;
}

/** @throws RpcError of the method, of authentication or of authorization. */
export type CallMethod = <Method extends DescMethodUnary>(
  method: Method,
  request: MessageInitShape<Method["input"]>,
) => Promise<MessageShape<Method["output"]>>;

/**
 * A path outside the RPCs: uploads, the console, live streams. It takes precedence over the RPCs'
 * own routes.
 */
export interface HttpRoute {
  /** A whole path, or a prefix when it ends with `/`. */
  readonly path: string;
  /** Open without authentication. */
  readonly public?: boolean;
  readonly handle: (request: IncomingMessage, response: ServerResponse, context: HttpContext) => void | Promise<void>;
}

/**
 * A request before its body is read. Header names are case-insensitive, as in
 * {@link import("./service.js").CallContext}.
 */
export interface HttpRequestHead {
  readonly method: string;
  readonly path: string;
  readonly metadata: { get(name: string): string | undefined };
}
