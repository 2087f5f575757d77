import pg from "pg";
import type { Logger } from "@flyte-ts/telemetry";
import { migrate, type MigrateOptions } from "./migrate.js";
import { Listener } from "./listen.js";
import { OutageLog } from "./outage-log.js";

export interface Query {
  /** Names a prepared statement: the same name must always stand for the same text. */
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

export interface Result<T> {
  readonly rows: T[];
  /** Rows changed or returned. */
  readonly rowCount: number;
}

/** Runs statements: the pool, or one transaction. */
export interface Queryable {
  query<T = Record<string, unknown>>(query: Query): Promise<Result<T>>;
}

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
  /** Timeout of one statement, ms. Default 30 s. */
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

/** The connection broke after COMMIT was sent: the transaction may or may not be committed. */
export class CommitOutcomeUnknownError extends Error {
  override readonly name = "CommitOutcomeUnknownError";
}

// Parses int8 as bigint: ids and nanosecond durations exceed doubles.
pg.types.setTypeParser(pg.types.builtins.INT8, (text) => BigInt(text));

export function createPool(options: PoolOptions): Database {
  const { url, logger, maxConnections = 20, statementTimeoutMs = 30_000, applicationName = "flyte-ts" } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    application_name: applicationName,
    statement_timeout: statementTimeoutMs,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: IDLE_MS,
    maxLifetimeSeconds: LIFETIME_S,
    keepAlive: true,
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

async function run<T>(client: pg.Pool | pg.PoolClient, query: Query): Promise<Result<T>> {
  const result = await client.query({
    text: query.text,
    values: query.values as unknown[] | undefined,
    ...(query.name ? { name: query.name } : {}),
  });
  return { rows: result.rows as T[], rowCount: result.rowCount ?? 0 };
}

async function transaction<T>(pool: pg.Pool, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    await client.query("BEGIN");
    let result: T;
    try {
      result = await work({ query: (query) => run(client, query) });
    } catch (error) {
      await client.query("ROLLBACK").catch((failure: Error) => {
        broken = failure;
      });
      throw error;
    }
    try {
      await client.query("COMMIT");
    } catch (cause) {
      // A refusal by the server (a deferred constraint, a serialization failure) has a code and
      // means: not committed.
      if (cause instanceof pg.DatabaseError && !cause.code?.startsWith("57")) throw cause;
      broken = cause as Error;
      throw new CommitOutcomeUnknownError("the connection was lost while the transaction was being committed", { cause });
    }
    return result;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}
