import { createPool, type Database } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import { clockFinding, type Finding, ill, reasonOf, warning, well } from "./finding.js";

const WHAT = "database";
const OLDEST = 15;
/** Each replica of admin uses 20 by default. */
const FEW_CONNECTIONS = 60;

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
    return [...findings(facts), clockFinding(WHAT, Number(facts.now) - (before + after) / 2, (after - before) / 2)];
  } catch (error) {
    return [
      ill(WHAT, reasonOf(error), "are address, user and password right, does pg_hba.conf let this machine in, is the database there?"),
    ];
  } finally {
    await db?.close().catch(() => undefined);
  }
}

function* findings({ version, name, standby, connections, may_create: mayCreate }: Facts): Generator<Finding> {
  if (version < OLDEST) yield ill(WHAT, `PostgreSQL ${version}`, `PostgreSQL ${OLDEST} or newer is needed`);
  else yield well(WHAT, `${name} on PostgreSQL ${version}`);
  if (standby) yield ill(WHAT, "is a standby, which takes no writes", "name the primary");
  if (!mayCreate) yield ill(WHAT, "the user may not make tables", "GRANT CREATE ON SCHEMA public, or make it the database's owner");
  if (connections < FEW_CONNECTIONS)
    yield warning(
      WHAT,
      `takes ${connections} connections in all`,
      "raise max_connections, or lower database.maxConnections of the services",
    );
}
