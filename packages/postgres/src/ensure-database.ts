import pg from "pg";
import { CONNECTION } from "./connection.js";

const UNDEFINED_DATABASE = "3D000";
const DUPLICATE_DATABASE = "42P04";
const UNIQUE_VIOLATION = "23505";

/**
 * Creates the database that a URL names unless it exists; the user needs the right to. Services may
 * call it concurrently: one creates it.
 */
export async function ensureDatabase(url: string): Promise<void> {
  if (await exists(url)) return;
  const server = new URL(url);
  const name = decodeURIComponent(server.pathname.slice(1));
  server.pathname = "/postgres";
  const client = new pg.Client({ connectionString: server.href, ...CONNECTION, application_name: "flyte-ts migrate" });
  await client.connect();
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  } catch (error) {
    // Two concurrent creates: the catalog's unique index refuses the second after both found no
    // database.
    if (!(error instanceof pg.DatabaseError && (error.code === DUPLICATE_DATABASE || error.code === UNIQUE_VIOLATION))) throw error;
  } finally {
    await client.end();
  }
}

async function exists(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, ...CONNECTION, application_name: "flyte-ts migrate" });
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNDEFINED_DATABASE) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
