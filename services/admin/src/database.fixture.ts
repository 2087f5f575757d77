import { fileURLToPath } from "node:url";
import { type MigratedDatabase, type MigratedDatabaseOptions, migratedDatabase } from "@flyte-ts/testing";

/** A new database server with admin's tables, and a connection pool for it. */
export type AdminDatabase = MigratedDatabase;

export function adminDatabase(options?: MigratedDatabaseOptions): Promise<AdminDatabase> {
  return migratedDatabase(fileURLToPath(new URL("../migrations", import.meta.url)), options);
}
