import { type Backoff, retry } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import type { Queryable } from "./query.js";
import { isUnavailable } from "./errors.js";

/** The first delay is short, since services and database often start together. */
const BACKOFF: Backoff = { initialMs: 50, maxMs: 500 };

/** Runs the work, and retries while the database cannot be reached: services start in any order. */
export async function waitForDatabase(work: () => Promise<void>, logger: Logger): Promise<void> {
  const onRetry = (error: unknown) => logger.warn({ error: String(error) }, "waiting for the database");
  await retry(work, { ...BACKOFF, isRetryable: isUnavailable, onRetry });
}

/** Reason why the database cannot be used now; undefined when it can. */
export async function checkDatabase(db: Queryable): Promise<string | undefined> {
  try {
    await db.query({ text: "SELECT 1" });
    return undefined;
  } catch (error) {
    return `the database does not answer: ${String(error)}`;
  }
}
