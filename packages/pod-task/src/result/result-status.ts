import { RetryLater, type TerminalStatus } from "@flyte-ts/task-plugin";
import type { AttemptResult } from "./read-result.js";

/** Status of an attempt whose process succeeded: its files may still say that it failed. */
export function resultStatus({ failure, ...result }: AttemptResult): TerminalStatus {
  if (failure === undefined) return { phase: "SUCCEEDED", ...result };
  return { phase: "FAILED", failure, ...(result.deckUri === undefined ? {} : { deckUri: result.deckUri }) };
}

/**
 * Reads files of an attempt that has ended.
 * @param pluginState reported while they cannot be read
 * @throws RetryLater when the store does not answer.
 */
export async function readOrRetryLater<T>(read: () => Promise<T>, pluginState: Uint8Array): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    const message = `the outputs cannot be read yet: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new RetryLater(message, { status: { phase: "RUNNING", reason: message, pluginState }, cause });
  }
}
