import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "@flyte-ts/telemetry";
import type { Queryable } from "./database.js";
import { isUnavailable } from "./errors.js";

const RETRY_MS = 500;

/** Runs what needs the database, again while the database cannot be reached: services start in any order. */
export async function whenDatabaseIsThere(work: () => Promise<void>, logger: Logger): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      logger.warn({ error: String(error) }, "waiting for the database");
      await sleep(RETRY_MS);
    }
  }
}

/** Why the database cannot be used now. */
export async function databaseProblem(db: Queryable): Promise<string | undefined> {
  try {
    await db.query({ text: "SELECT 1" });
    return undefined;
  } catch (error) {
    return `the database does not answer: ${String(error)}`;
  }
}
