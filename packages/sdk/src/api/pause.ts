import { setTimeout as sleep } from "node:timers/promises";

/** Waits. @throws the signal's reason when it is aborted */
export async function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, signal && { signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}
