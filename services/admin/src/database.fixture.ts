import { fileURLToPath } from "node:url";
import { type MigratedDatabase, migratedDatabase } from "@flyte-ts/testing";

/** A server of its own with admin's tables, and a pool of connections to it. */
export type AdminDatabase = MigratedDatabase;

export function adminDatabase(): Promise<AdminDatabase> {
  return migratedDatabase(fileURLToPath(new URL("../migrations", import.meta.url)));
}
