import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPostgresClient } from "@flyte-ts/local-servers";
import { createPool, ensureDatabase } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import { BackupError } from "./manifest.js";

const execFileAsync = promisify(execFile);

export interface DatabaseFile {
  readonly name: string;
  readonly url: string;
  readonly file: string;
  readonly logger: Logger;
}

/** Dumps a consistent snapshot of a database in use to a file. */
export async function dumpDatabase({ name, url, file, logger }: DatabaseFile): Promise<void> {
  const { major } = await inspectDatabase(url, logger);
  // Comments on extensions belong to the server's administrator, so the restoring user could not
  // set them.
  await runPostgresTool(major, "pg_dump", {
    name,
    url,
    args: ["--format=custom", "--no-owner", "--no-privileges", "--no-comments", "--file", file],
  });
}

/**
 * Restores an empty database, created if missing, in one transaction.
 *
 * @throws BackupError when it holds tables.
 */
export async function restoreDatabase({ name, url, file, logger }: DatabaseFile): Promise<void> {
  await ensureDatabase(url);
  const { major, tables } = await inspectDatabase(url, logger);
  if (tables > 0) throw new BackupError(`database ${name} holds ${tables} tables; restore into an empty database`);
  const args = [
    "--no-owner",
    "--no-privileges",
    "--exit-on-error",
    "--single-transaction",
    "--dbname",
    libpqEnvironment(url)["PGDATABASE"] ?? "",
    file,
  ];
  await runPostgresTool(major, "pg_restore", { name, url, args });
}

async function inspectDatabase(url: string, logger: Logger): Promise<{ readonly major: number; readonly tables: number }> {
  const db = createPool({ url, logger });
  try {
    const { rows } = await db.query<{ version: number; tables: number }>({
      text: "SELECT current_setting('server_version_num')::int AS version, (SELECT count(*)::int FROM pg_tables WHERE schemaname = 'public') AS tables",
    });
    return { major: Math.floor((rows[0]?.version ?? 0) / 10_000), tables: rows[0]?.tables ?? 0 };
  } finally {
    await db.close();
  }
}

interface ToolCall {
  readonly name: string;
  readonly url: string;
  readonly args: readonly string[];
}

async function runPostgresTool(serverMajor: number, program: "pg_dump" | "pg_restore", { name, url, args }: ToolCall): Promise<void> {
  const command = join(await findPostgresClient(serverMajor), program);
  try {
    // Pass the connection in the environment, because all users of the machine may read arguments.
    await execFileAsync(command, args, { env: { ...process.env, ...libpqEnvironment(url) }, maxBuffer: 64 << 20 });
  } catch (error) {
    const { stderr = "", message } = error as { readonly stderr?: string; readonly message: string };
    throw new BackupError(`${program} of database ${name} failed: ${stderr.trim() || message}`, { cause: error });
  }
}

/** Converts a connection URL to variables of libpq. */
function libpqEnvironment(url: string): Record<string, string> {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const settings: Record<string, string> = {
    PGHOST: hostname.replace(/^\[(.*)\]$/, "$1"),
    PGPORT: port || "5432",
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
  };
  for (const [key, variable] of [
    ["sslmode", "PGSSLMODE"],
    ["sslrootcert", "PGSSLROOTCERT"],
  ] as const) {
    const value = searchParams.get(key);
    if (value !== null) settings[variable] = value;
  }
  return settings;
}
