import type { Queryable } from "@flyte-ts/postgres";
import { createTurns } from "./turns.js";
import { verifyPassword } from "./password.js";
import { findUser } from "./users.js";

/** Wrong passwords that one source may send for one name within FAILURE_MS; then none of that source is looked at for that name. */
const MAX_FAILURES = 10;
const FAILURE_MS = 300_000;
const MAX_KNOWN = 10_000;
/** A check takes a core for some time. */
const MAX_AT_ONCE = 2;
const MAX_WAITING_OF_A_SOURCE = 4;
const MAX_WAITING = 64;

export interface Attempt {
  readonly name: string;
  readonly password: string;
  /** Address that the attempt comes from. */
  readonly source: string;
}

export type CheckPassword = (attempt: Attempt) => Promise<"right" | "wrong" | "too-often">;

/**
 * Checks passwords, and slows down who guesses. Failures count for a name and a source together, so that guesses from elsewhere
 * shut nobody out; sources take turns, so that those of one do not hold up the others.
 */
export function createPasswordCheck(db: Queryable, clock: () => Date): CheckPassword {
  const failures = new Map<string, { count: number; readonly since: number }>();
  const turns = createTurns({ atOnce: MAX_AT_ONCE, waiting: MAX_WAITING, waitingOfOne: MAX_WAITING_OF_A_SOURCE });
  const recentOf = (key: string): { count: number; readonly since: number } | undefined => {
    const known = failures.get(key);
    return known !== undefined && clock().getTime() - known.since < FAILURE_MS ? known : undefined;
  };
  const tooOften = (key: string): boolean => (recentOf(key)?.count ?? 0) >= MAX_FAILURES;
  return async ({ name, password, source }) => {
    const key = JSON.stringify([source, name]);
    if (tooOften(key)) return "too-often";
    const answer = await turns.run(source, async () => {
      // Others of this source may have failed meanwhile.
      if (tooOften(key)) return "too-often" as const;
      const user = await findUser(db, name);
      if (await verifyPassword(password, user?.passwordHash ?? "")) {
        failures.delete(key);
        return "right" as const;
      }
      const recent = recentOf(key);
      if (failures.size >= MAX_KNOWN && !failures.has(key)) failures.delete(failures.keys().next().value ?? "");
      failures.set(key, { count: (recent?.count ?? 0) + 1, since: recent?.since ?? clock().getTime() });
      return "wrong" as const;
    });
    return answer ?? "too-often";
  };
}
