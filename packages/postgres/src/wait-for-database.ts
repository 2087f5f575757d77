import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { Queryable } from "./database.js";
import { isUnavailable } from "./errors.js";

/** Delays between attempts, ms; the first is short, since services and database often start together. */
const RETRY_MS = { first: 50, most: 500 };

/** Runs the work, and retries while the database cannot be reached: services start in any order. */
export async function waitForDatabase(work: () => Promise<void>, logger: Logger): Promise<void> {
  for (let pause = RETRY_MS.first; ; pause = Math.min(pause * 2, RETRY_MS.most)) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      logger.warn({ error: String(error) }, "waiting for the database");
      await sleep(pause);
    }
  }
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
