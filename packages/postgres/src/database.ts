import pg from "pg";
import type { Logger } from "@flyte-ts/telemetry";
import { migrate, type MigrateOptions } from "./migrate.js";
import { Listener } from "./listen.js";
import { CONNECTION, statementTimeouts } from "./connection.js";
import { OutageLog } from "./outage-log.js";
import type { Query, Queryable } from "./query.js";
import { run, transaction } from "./transaction.js";

export interface Database extends Queryable {
  /**
   * Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. When
   * the connection is lost during COMMIT the outcome is unknown and the error says so
   * (`CommitOutcomeUnknownError`); callers repeat with the same keys.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /**
   * Calls `onNotify` for NOTIFY on the channel, across reconnects; also once after each
   * (re)connect, since notifications may have been missed.
   */
  listen(channel: string, onNotify: (payload: string) => void): Promise<{ close(): Promise<void> }>;
  migrate(options: MigrateOptions): Promise<void>;
  /** Logs outages of this database for the tasks that they postpone. */
  readonly outages: OutageLog;
  close(): Promise<void>;
}

export interface PoolOptions {
  readonly url: string;
  readonly logger: Logger;
  readonly maxConnections?: number;
  /**
   * Timeout of one statement, ms; 0: unlimited. Default 30 s. A statement without an answer 5 s
   * later counts as sent to an unreachable server.
   */
  readonly statementTimeoutMs?: number;
  readonly applicationName?: string;
}

/**
 * Idle time after which a connection is closed, ms: its server process may hold some MiB after a
 * large load.
 */
const IDLE_MS = 10_000;
/**
 * Age at which a connection is replaced, s. Polls twice a second keep some connections from ever
 * being idle for IDLE_MS.
 */
const LIFETIME_S = 30;

// Parses int8 as bigint: ids and nanosecond durations exceed doubles.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));

export function createPool(options: PoolOptions): Database {
  const { url, logger, maxConnections = 20, statementTimeoutMs = 30_000, applicationName = "flyte-ts" } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    application_name: applicationName,
    ...CONNECTION,
    ...statementTimeouts(statementTimeoutMs),
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: LIFETIME_S,
  });
  pool.on("error", (error) => logger.warn({ error: error.message }, "idle database connection lost"));
  const listeners = new Set<Listener>();
  const outages = new OutageLog(logger);
  const answered = <T>(result: T): T => {
    outages.onAnswer();
    return result;
  };
  return {
    query: async <T>(query: Query) => answered(await run<T>(pool, query)),
    transaction: async (work) => answered(await transaction(pool, work)),
    outages,
    listen: async (channel, onNotify) => {
      const listener = new Listener({ url, channel, onNotify, logger });
      listeners.add(listener);
      await listener.start();
      return {
        close: async () => {
          listeners.delete(listener);
          await listener.close();
        },
      };
    },
    migrate: (migration) => migrate(url, migration),
    close: async () => {
      outages.close();
      await Promise.all([...listeners].map((listener) => listener.close()));
      await pool.end();
    },
  };
}
