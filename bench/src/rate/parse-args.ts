import { createPool, type Database } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { seedExecutions, type SeedOptions } from "./seed-database.js";
import type { RateOptions } from "./measure-rate.js";
import { readStackConfig } from "./stack-config.js";

type RateFlags = Readonly<Record<"callers" | "connections" | "limit" | "filters" | "token", string>>;
type RateArgs = Omit<RateOptions, "endpoint" | "project" | "domain" | "timeoutMs" | "memory">;

/**
 * Parses `get SECONDS [ROWS]`, `list SECONDS` and `create SECONDS`; undefined for other arguments.
 */
export function parseRateArgs([call, ...rest]: readonly string[], flags: RateFlags): RateArgs | undefined {
  if (call !== "get" && call !== "list" && call !== "create") return undefined;
  const [seconds, rows] = rest.map(Number);
  const { filters, token } = flags;
  const numbers = { callers: Number(flags.callers), connections: Number(flags.connections), limit: Number(flags.limit) };
  const given = [seconds, ...(rows === undefined ? [] : [rows]), ...Object.values(numbers)];
  if (rest.length > (call === "get" ? 2 : 1) || given.some((number) => !Number.isInteger(number) || Number(number) < 1)) return undefined;
  return { call, seconds: Number(seconds), rows, ...numbers, filters, token };
}

/** Timeout of a statement over all rows, ms. */
const STATEMENT_MS = 1_200_000;

/** Uses the database of the local stack in `data`. */
export async function withDatabase<Result>(data: string, use: (db: Database) => Promise<Result>): Promise<Result> {
  const logger = createLogger({ service: "bench", level: "warn" });
  const url = readStackConfig(data).databaseUrl;
  const db = createPool({ url, logger, maxConnections: 1, statementTimeoutMs: STATEMENT_MS, applicationName: "flyte-ts bench" });
  try {
    return await use(db);
  } finally {
    await db.close();
  }
}

/** Inserts executions into the database of the local stack in `data`. */
export function seedDatabase(data: string, options: SeedOptions): Promise<{ readonly added: number; readonly nodesAdded: number }> {
  return withDatabase(data, (db) => seedExecutions(db, options));
}
