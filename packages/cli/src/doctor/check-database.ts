import { createPool, type Database } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import { clockFinding, type Finding, failed, rootCauseMessage, warning, passed } from "./finding.js";

const SUBJECT = "database";
const MIN_MAJOR = 15;
/** Each replica of admin uses 20 by default. */
const MIN_CONNECTIONS = 60;

interface Facts {
  readonly version: number;
  readonly name: string;
  readonly now: string;
  readonly standby: boolean;
  readonly connections: number;
  readonly may_create: boolean;
}

/** Checks a database: connections, the right to migrate, version and clock. */
export async function checkDatabase(url: string, logger: Logger): Promise<readonly Finding[]> {
  let db: Database | undefined;
  try {
    db = createPool({ url, logger, maxConnections: 1, applicationName: "flyte-ts doctor" });
    const before = Date.now();
    const { rows } = await db.query<Facts>({
      text: `SELECT current_setting('server_version_num')::int / 10000 AS version, current_database() AS name,
                    (extract(epoch FROM clock_timestamp()) * 1000)::text AS now, pg_is_in_recovery() AS standby,
                    current_setting('max_connections')::int AS connections,
                    has_schema_privilege(current_user, 'public', 'CREATE') AS may_create`,
    });
    const after = Date.now();
    const facts = rows[0] as Facts;
    return [...findings(facts), clockFinding(SUBJECT, Number(facts.now) - (before + after) / 2, (after - before) / 2)];
  } catch (error) {
    return [
      failed(
        SUBJECT,
        rootCauseMessage(error),
        "are address, user and password right, does pg_hba.conf let this machine in, is the database there?",
      ),
    ];
  } finally {
    await db?.close().catch(() => undefined);
  }
}

function* findings({ version, name, standby, connections, may_create: mayCreate }: Facts): Generator<Finding> {
  if (version < MIN_MAJOR) yield failed(SUBJECT, `PostgreSQL ${version}`, `PostgreSQL ${MIN_MAJOR} or newer is needed`);
  else yield passed(SUBJECT, `${name} on PostgreSQL ${version}`);
  if (standby) yield failed(SUBJECT, "is a read-only standby", "name the primary");
  if (!mayCreate) yield failed(SUBJECT, "the user cannot create tables", "GRANT CREATE ON SCHEMA public, or make it the database's owner");
  if (connections < MIN_CONNECTIONS)
    yield warning(SUBJECT, `max_connections is ${connections}`, "raise max_connections, or lower database.maxConnections of the services");
}
