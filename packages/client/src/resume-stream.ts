import { setTimeout as sleep } from "node:timers/promises";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { Code, RpcError } from "@flyte-ts/rpc";

/** A message of a stream that can be resumed. */
export interface ResumableMessage {
  /** Position after this message, to resume from. */
  readonly cursor: string;
  /** This is the last message. */
  readonly ended: boolean;
}

export interface ResumeOptions {
  readonly signal?: AbortSignal;
  /** Consecutive failures before giving up; default 10, about half a minute. */
  readonly maxFailures?: number;
}

/** Transient codes, for which a retry or another replica may succeed. */
const TRANSIENT_CODES: readonly Code[] = [Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED, Code.CANCELLED, Code.UNKNOWN];
const BACKOFF: Backoff = { initialMs: 100, maxMs: 5_000 };

/**
 * Yields a stream until its end and resumes it after failures: `open` starts it after a cursor, at
 * first an empty one.
 *
 * @throws RpcError when it cannot be resumed.
 */
export async function* resumeStream<Message extends ResumableMessage>(
  open: (cursor: string) => AsyncIterable<Message>,
  { signal, maxFailures = 10 }: ResumeOptions = {},
): AsyncGenerator<Message> {
  let cursor = "";
  for (let failures = 0; ; failures++) {
    try {
      for await (const message of open(cursor)) {
        failures = 0;
        cursor = message.cursor;
        yield message;
        if (message.ended) return;
      }
      // The stream ended without further messages.
      return;
    } catch (error) {
      const transient = error instanceof RpcError && TRANSIENT_CODES.includes(error.code);
      if (!transient || signal?.aborted === true || failures + 1 >= maxFailures) throw error;
    }
    await sleep(backoffDelay(BACKOFF, failures), undefined, signal && { signal });
  }
}
