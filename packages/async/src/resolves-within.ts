import type { Time } from "./time.js";

/**
 * Waits for work, but at most for `ms`. Returns false when it is not done by then; the work goes
 * on. Rejects when the work rejects in time.
 */
export async function resolvesWithin(work: Promise<unknown>, ms: number, clock: Pick<Time, "schedule">): Promise<boolean> {
  let cancelTimer: () => void = () => undefined;
  const late = new Promise<boolean>((resolve) => {
    cancelTimer = clock.schedule(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    cancelTimer();
  }
}
