import type { IncomingMessage, ServerResponse } from "node:http";

/** What a plain HTTP handler knows besides the request. */
export interface HttpContext {
  readonly requestId: string;
  /** Aborted when the client goes before the response is complete. */
  readonly signal: AbortSignal;
  /** Path as sent (not decoded), without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /**
   * Reads the whole body. It counts against the server's memory for requests until the response closes.
   *
   * @throws RpcError RESOURCE_EXHAUSTED: a {@link import("./intake.js").RequestTooLarge} for a longer body, another where other
   *   requests take too much memory. CANCELLED when the request breaks off.
   */
  readonly readBody: (maxBytes: number) => Promise<Uint8Array>;
}

/** A path outside the RPCs: uploads, the console, live streams. It goes before the RPCs' own routes. */
export interface HttpRoute {
  /** A whole path, or a prefix when it ends with `/`. */
  readonly path: string;
  /** Anyone may ask for it, also where callers are asked who they are. */
  readonly open?: boolean;
  readonly handle: (request: IncomingMessage, response: ServerResponse, context: HttpContext) => void | Promise<void>;
}

/** What is known of a request before its body is read. Names of headers are case-insensitive, as in {@link import("./service.js").CallContext}. */
export interface HttpRequestHead {
  readonly method: string;
  readonly path: string;
  readonly metadata: { get(name: string): string | undefined };
}
