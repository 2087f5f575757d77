import { type CallContext, Code, RpcError } from "@flyte-ts/rpc";

export interface StreamAuthOptions {
  /** Expiry of the caller's token, ms since the epoch. */
  readonly expiresAt: number;
  /** Rejects with an RpcError when the caller may no longer make the call. */
  readonly recheck: () => Promise<void>;
  readonly clock: () => Date;
  /** Interval between calls of `recheck`, ms. */
  readonly recheckIntervalMs: number;
}

/**
 * Runs a stream until the caller's token expires (UNAUTHENTICATED) or a right is revoked, then
 * aborts the signal of its context.
 */
export async function runWhileAuthorized(
  context: CallContext,
  { expiresAt, recheck, clock, recheckIntervalMs }: StreamAuthOptions,
  run: (context: CallContext) => Promise<unknown>,
): Promise<unknown> {
  const over = new AbortController();
  const ended = new Promise<never>((_, reject) => {
    over.signal.addEventListener("abort", () => reject(over.signal.reason as RpcError), { once: true });
  });
  // The loser of the race may reject later; ignore it.
  ended.catch(() => undefined);
  const recheckNow = async (): Promise<void> => {
    if (clock().getTime() >= expiresAt) over.abort(new RpcError(Code.UNAUTHENTICATED, "the token has expired"));
    else await recheck().catch((error: unknown) => over.abort(error));
    if (!over.signal.aborted && !done) timer = next();
  };
  let done = false;
  const next = (): NodeJS.Timeout =>
    setTimeout(() => void recheckNow(), Math.min(recheckIntervalMs, Math.max(0, expiresAt - clock().getTime()))).unref();
  let timer = next();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const running = run(Object.create(context, { signal: { value: signal, enumerable: true } }) as CallContext);
  running.catch(() => undefined);
  try {
    return await Promise.race([running, ended]);
  } finally {
    done = true;
    clearTimeout(timer);
  }
}
