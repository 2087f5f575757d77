import { createPool, type Database, ensureDatabase } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { postgresFixture, type ServerFixture } from "./servers.js";

/** A server with the tables of a service, and a pool of connections to it. */
export interface MigratedDatabase {
  readonly postgres: ServerFixture;
  readonly db: Database;
  stop(): Promise<void>;
}

export interface MigratedDatabaseOptions {
  /**
   * Name of a database that several replicas create and migrate concurrently, as those of a service
   * that start together.
   */
  readonly name?: string;
  /** Folder of a server that is kept for the next run. Default: a fresh one that `stop` removes. */
  readonly dataDir?: string | undefined;
}

/** Runs a folder's migrations on a server. */
export async function migratedDatabase(directory: string, { name, dataDir }: MigratedDatabaseOptions = {}): Promise<MigratedDatabase> {
  const logger = createLogger({ service: "test", level: "silent" });
  const postgres = await postgresFixture({ dataDir });
  const url = new URL(postgres.url);
  if (name !== undefined) {
    url.pathname = `/${name}`;
    await Promise.all([1, 2, 3, 4].map(() => ensureDatabase(url.href)));
    await ensureDatabase(url.href);
  }
  const db = createPool({ url: url.href, logger });
  await Promise.all((name === undefined ? [1] : [1, 2]).map(() => db.migrate({ directory, logger })));
  return {
    postgres,
    db,
    stop: async () => {
      await db.close();
      await postgres.stop();
    },
  };
}
