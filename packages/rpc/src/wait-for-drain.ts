import { Code } from "./code.js";
import { RpcError } from "./rpc-error.js";

/** Time for which a client may leave a stream unread before it is dropped. */
export const DEFAULT_STALL_TIMEOUT_MS = 30_000;

/** Target of a stream: a gRPC call or an HTTP response. */
export interface Writer {
  once(event: "drain" | "close", listener: () => void): unknown;
  off(event: "drain" | "close", listener: () => void): unknown;
}

export interface DrainOptions {
  readonly signal: AbortSignal;
  readonly stallTimeoutMs: number;
}

/**
 * Resolves when a full writer drains or is closed.
 *
 * @throws RpcError RESOURCE_EXHAUSTED when it read nothing for `stallTimeoutMs`; the signal's
 *   reason when it is aborted.
 */
export function waitForDrain(writer: Writer, { signal, stallTimeoutMs }: DrainOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (failure?: Error): void => {
      clearTimeout(timer);
      writer.off("drain", taken);
      writer.off("close", taken);
      signal.removeEventListener("abort", aborted);
      if (failure === undefined) resolve();
      else reject(failure);
    };
    const taken = (): void => settle();
    const aborted = (): void => settle(signal.reason as Error);
    const timer = setTimeout(
      () =>
        settle(new RpcError(Code.RESOURCE_EXHAUSTED, `the client read nothing from the stream for ${stallTimeoutMs} ms; it may resume it`)),
      stallTimeoutMs,
    );
    writer.once("drain", taken);
    writer.once("close", taken);
    signal.addEventListener("abort", aborted, { once: true });
  });
}
