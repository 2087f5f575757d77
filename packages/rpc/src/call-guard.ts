import type { CallContext, Interceptor } from "./service.js";
import type { RpcError } from "./rpc-error.js";

/** Decision on a call before its request is read. */
export interface Admitted {
  /**
   * Reason why the caller may not make the call, whatever the request. A small request is still
   * read, so that a refusal can say what was asked for; a larger one is refused with this error.
   * Undefined where that depends on the request.
   */
  readonly lacking?: RpcError | undefined;
}

/**
 * Authentication and authorization of calls, in two steps: by method and metadata, then by the
 * request.
 */
export interface CallGuard {
  /**
   * Called before any byte of the request is read, decompressed or decoded; rejects with an
   * RpcError.
   */
  readonly admit: (call: Pick<CallContext, "method" | "metadata" | "transport">) => Promise<Admitted>;
  /** Wraps the call once its request is decoded, inside all other interceptors. */
  readonly interceptor: Interceptor;
}
