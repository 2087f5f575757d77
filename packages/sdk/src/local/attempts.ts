import { setTimeout as wait } from "node:timers/promises";
import { RecoverableError } from "../entity/errors.js";

interface AttemptSettings {
  readonly retries: number;
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
  /** Milliseconds between attempts. */
  readonly pauseMs: number;
}

/** Runs attempts until one succeeds, one fails for good, or none is left. */
export async function attempted<R>(
  { retries, timeoutMs, signal, pauseMs }: AttemptSettings,
  attempt: (number: number, signal: AbortSignal) => Promise<R>,
): Promise<{ readonly result: R; readonly attempts: number }> {
  for (let number = 0; ; number++) {
    try {
      signal.throwIfAborted();
      return { result: await limited(timeoutMs, signal, (inner) => attempt(number, inner)), attempts: number + 1 };
    } catch (error) {
      if (number >= retries || !isRecoverable(error)) throw new AttemptsFailed(number + 1, error);
      await wait(pauseMs);
    }
  }
}

/** All attempts of a node failed; the cause is the error of the last. */
export class AttemptsFailed extends Error {
  override readonly name = "AttemptsFailed";

  constructor(
    readonly attempts: number,
    override readonly cause: unknown,
  ) {
    super("all attempts failed");
  }
}

/** True for a recoverable error, also as the cause of another. */
export function isRecoverable(error: unknown): boolean {
  if (error instanceof RecoverableError || error instanceof TimeoutError) return true;
  return error instanceof Error && error.cause !== undefined && isRecoverable(error.cause);
}

/** An attempt lasted too long. */
class TimeoutError extends Error {
  override readonly name = "TimeoutError";
}

async function limited<R>(timeoutMs: number | undefined, outer: AbortSignal, run: (signal: AbortSignal) => Promise<R>): Promise<R> {
  if (timeoutMs === undefined) return run(outer);
  const controller = new AbortController();
  const signal = AbortSignal.any([outer, controller.signal]);
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const error = new TimeoutError(`the attempt lasted longer than ${timeoutMs} ms`);
      controller.abort(error);
      reject(error);
    }, timeoutMs);
  });
  try {
    return await Promise.race([run(signal), expired]);
  } finally {
    clearTimeout(timer);
  }
}
