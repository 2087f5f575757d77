import { fileURLToPath } from "node:url";
import { createPool, type Database } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { postgresFixture, type ServerFixture } from "@flyte-ts/testing";

/** A server of its own with admin's tables, and a pool of connections to it. */
export interface AdminDatabase {
  readonly postgres: ServerFixture;
  readonly db: Database;
  stop(): Promise<void>;
}

export async function adminDatabase(): Promise<AdminDatabase> {
  const logger = createLogger({ service: "test", level: "silent" });
  const postgres = await postgresFixture();
  const db = createPool({ url: postgres.url, logger });
  await db.migrate({ directory: fileURLToPath(new URL("../migrations", import.meta.url)), logger });
  return {
    postgres,
    db,
    stop: async () => {
      await db.close();
      await postgres.stop();
    },
  };
}
