import { setTimeout as sleep } from "node:timers/promises";
import { Code, RpcError } from "@flyte-ts/rpc";

/** A message of a stream that can be resumed. */
export interface Resumable {
  /** Where the stream goes on behind this message. */
  readonly cursor: string;
  /** This is the last message. */
  readonly ended: boolean;
}

export interface ResumeOptions {
  readonly signal?: AbortSignal;
  /** Failures in a row after which it is given up; 10 when not given, about half a minute. */
  readonly attempts?: number;
}

/** What another try, or another replica, may put right. */
const PASSING: readonly Code[] = [Code.UNAVAILABLE, Code.RESOURCE_EXHAUSTED, Code.CANCELLED, Code.UNKNOWN];
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/**
 * A stream that goes on where it broke off, until it has ended: `open` begins it behind a cursor, an empty one at first.
 *
 * @throws RpcError when it cannot be resumed.
 */
export async function* resumed<Message extends Resumable>(
  open: (cursor: string) => AsyncIterable<Message>,
  { signal, attempts = 10 }: ResumeOptions = {},
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
      // It had nothing to add to what was known.
      return;
    } catch (error) {
      const passing = error instanceof RpcError && PASSING.includes(error.code);
      if (!passing || signal?.aborted === true || failures + 1 >= attempts) throw error;
    }
    await sleep(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), undefined, signal && { signal });
  }
}
