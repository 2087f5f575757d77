import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import type { Logger } from "@flyte-ts/telemetry";
import { type Backoff, retry } from "@flyte-ts/async";
import { isLockConflict } from "./errors.js";
import { CONNECTION } from "./connection.js";
import { contractRequires } from "./contract-migration.js";

export interface MigrateOptions {
  /** Folder of `NNNN_name.sql` files. */
  readonly directory: string;
  readonly logger: Logger;
}

/** The folder's migrations cannot be applied to this database. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
  /** See `contractRequires`. */
  readonly after: string | undefined;
}

interface Applied {
  readonly name: string;
  readonly checksum: string;
  readonly contract_after: string | null;
}

/** Advisory lock of this project: concurrent migrations of one database wait for it. */
const LOCK = 7_031_990_416;

/**
 * Maximum wait of a migration for the lock of a table, ms. Every later statement on the table waits
 * behind it, those of replicas that serve included, while a backup can hold the table for hours.
 */
const LOCK_WAIT_MS = 2_000;
const LOCK_RETRIES: Backoff = { initialMs: 2_000, maxMs: 15_000, jitter: 0.5 };

/**
 * Applies the missing migrations in order, each in a transaction of its own with the row that
 * records it. Replicas that start together wait for each other. A file changed after it was applied
 * is refused: two databases with the same migrations must have the same schema. Migrations of newer
 * builds stay: they only add, except for contract steps, for which a build must be new enough. A
 * migration whose table is locked for long by another session, such as a backup, is retried.
 *
 * @throws MigrationError when a file is misnamed, changed or older than the newest applied one, or
 *   when this build is
 * too old for the database.
 */
export async function migrate(url: string, { directory, logger }: MigrateOptions): Promise<void> {
  const files = readMigrations(directory);
  const client = new pg.Client({ connectionString: url, ...CONNECTION, application_name: "flyte-ts migrate" });
  // The statement that needs the connection reports its loss.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK]);
    await client.query(
      "CREATE TABLE IF NOT EXISTS schema_migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())",
    );
    await client.query("ALTER TABLE schema_migrations ADD COLUMN IF NOT EXISTS contract_after text");
    const { rows } = await client.query<Applied>("SELECT name, checksum, contract_after FROM schema_migrations ORDER BY name");
    assertBuildSupportsSchema(files, rows);
    for (const file of pending(files, rows)) {
      await retry(() => apply(client, file), {
        ...LOCK_RETRIES,
        isRetryable: (error) => error instanceof MigrationError && isLockConflict(error.cause),
        onRetry: (_, attempts) =>
          logger.warn({ migration: file.name, attempts }, "a migration waits for a table that another session has locked, and is retried"),
      });
      logger.info({ migration: file.name }, "migration applied");
    }
  } finally {
    await client.end();
  }
}

async function apply(client: pg.Client, file: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_WAIT_MS}`);
    await client.query(file.sql);
    const row = [file.name, file.checksum, file.after];
    await client.query("INSERT INTO schema_migrations (name, checksum, contract_after) VALUES ($1, $2, $3)", row);
    await client.query("COMMIT");
  } catch (cause) {
    await client.query("ROLLBACK");
    throw new MigrationError(`migration ${file.name} failed: ${(cause as Error).message}`, { cause });
  }
}

function readMigrations(directory: string): Migration[] {
  const names = readdirSync(directory).filter((name) => name.endsWith(".sql"));
  return names.sort().map((name, index) => {
    if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(name)) throw new MigrationError(`migration ${name}: the name must be NNNN_words.sql`);
    if (name.slice(0, 4) === names[index + 1]?.slice(0, 4)) throw new MigrationError(`migration ${name}: its number is used twice`);
    const sql = readFileSync(join(directory, name), "utf8");
    return { name, sql, checksum: createHash("sha256").update(sql).digest("hex"), after: contractRequires(sql) };
  });
}

/**
 * Refuses a build that is older than a contract step allows: it would use what the step removed.
 */
function assertBuildSupportsSchema(files: readonly Migration[], applied: readonly Applied[]): void {
  const newest = files.at(-1)?.name ?? "";
  const step = applied.find(({ contract_after: after }) => after !== null && newest.slice(0, 4) < after);
  if (step !== undefined)
    throw new MigrationError(
      `migration ${step.name} removed what this build uses: run a build that includes migration ${step.contract_after}; this one ends at ${newest}`,
    );
}

function pending(files: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const known = new Map(applied.map((row) => [row.name, row.checksum]));
  const newest = applied.at(-1)?.name ?? "";
  return files.filter(({ name, checksum }) => {
    const before = known.get(name);
    if (before !== undefined && before !== checksum) throw new MigrationError(`migration ${name} was changed after it had been applied`);
    if (before === undefined && name < newest)
      throw new MigrationError(`migration ${name} is older than ${newest}, which has been applied`);
    return before === undefined;
  });
}
