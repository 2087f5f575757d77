import { BoundedMap } from "@flyte-ts/async";
import type { Queryable } from "@flyte-ts/postgres";
import { createFairSemaphore } from "./fair-semaphore.js";
import { verifyPassword } from "./password.js";
import { findUser } from "../store/issuer-users.js";

/**
 * Maximum of wrong passwords from one source for one name within FAILURE_MS; further attempts are
 * rejected unchecked.
 */
const MAX_FAILURES = 10;
const FAILURE_MS = 300_000;
const MAX_KNOWN = 10_000;
/** Maximum of concurrent checks: each keeps a core busy. */
const CONCURRENCY = 2;
const MAX_QUEUED_PER_SOURCE = 4;
const MAX_QUEUED = 64;

export interface Attempt {
  readonly name: string;
  readonly password: string;
  /** Address of the client. */
  readonly source: string;
}

export type CheckPassword = (attempt: Attempt) => Promise<"right" | "wrong" | "too-often">;

/**
 * Verifies passwords and limits guessing. Counts failures per name and source, so that guesses from
 * elsewhere lock no user out; schedules sources fairly, so that one does not delay the others.
 */
export function createPasswordCheck(db: Queryable, clock: () => Date): CheckPassword {
  const failures = new BoundedMap<string, { count: number; readonly since: number }>(MAX_KNOWN);
  const semaphore = createFairSemaphore({ concurrency: CONCURRENCY, maxQueued: MAX_QUEUED, maxQueuedPerSource: MAX_QUEUED_PER_SOURCE });
  const recentOf = (key: string): { count: number; readonly since: number } | undefined => {
    const known = failures.get(key);
    return known !== undefined && clock().getTime() - known.since < FAILURE_MS ? known : undefined;
  };
  const isRateLimited = (key: string): boolean => (recentOf(key)?.count ?? 0) >= MAX_FAILURES;
  return async ({ name, password, source }) => {
    const key = JSON.stringify([source, name]);
    if (isRateLimited(key)) return "too-often";
    const answer = await semaphore.run(source, async () => {
      // Concurrent attempts from this source may have failed meanwhile.
      if (isRateLimited(key)) return "too-often" as const;
      const user = await findUser(db, name);
      if (await verifyPassword(password, user?.passwordHash ?? "")) {
        failures.delete(key);
        return "right" as const;
      }
      const recent = recentOf(key);
      failures.set(key, { count: (recent?.count ?? 0) + 1, since: recent?.since ?? clock().getTime() });
      return "wrong" as const;
    });
    return answer ?? "too-often";
  };
}
