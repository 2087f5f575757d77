import { fileURLToPath } from "node:url";
import { type MigratedDatabase, type MigratedDatabaseOptions, migratedDatabase } from "@flyte-ts/testing";

/** A server of its own with admin's tables, and a pool of connections to it. */
export type AdminDatabase = MigratedDatabase;

export function adminDatabase(options?: MigratedDatabaseOptions): Promise<AdminDatabase> {
  return migratedDatabase(fileURLToPath(new URL("../migrations", import.meta.url)), options);
}
