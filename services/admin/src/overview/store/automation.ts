import { type Queryable, textArray } from "@flyte-ts/postgres";
import type { Scope } from "./scope.js";

const MAX_TRIGGERS = 20;
const MAX_FIRINGS = 100;

export interface RefusedFiringsRow {
  name: string;
  count: number;
  reason: string;
  last_at: Date;
}

/** Finds triggers with firings that were refused, the latest first. */
export async function findRefusedFirings(db: Queryable, { project, domain }: Scope, since: Date): Promise<readonly RefusedFiringsRow[]> {
  const { rows } = await db.query<RefusedFiringsRow>({
    name: "overview-refused-firings",
    text: `SELECT t.name, count(*)::int AS count, (array_agg(f.reason ORDER BY f.ended_at DESC))[1] AS reason, max(f.ended_at) AS last_at
      FROM triggers AS t CROSS JOIN LATERAL (SELECT reason, ended_at FROM trigger_firings
        WHERE trigger_id = t.id AND state = 'refused' AND ended_at >= $3 ORDER BY ended_at DESC LIMIT ${MAX_FIRINGS}) AS f
      WHERE t.project = $1 AND t.domain = $2
      GROUP BY t.name ORDER BY last_at DESC, t.name LIMIT ${MAX_TRIGGERS}`,
    values: [project, domain, since],
  });
  return rows;
}

/** Selects the names of executions that exist. */
export async function existingExecutions(
  db: Queryable,
  { project, domain }: Scope,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const { rows } = await db.query<{ execution_name: string }>({
    name: "overview-existing-executions",
    text: `SELECT execution_name FROM executions
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = ANY($3::text[])`,
    values: [project, domain, textArray(names)],
  });
  return new Set(rows.map(({ execution_name: name }) => name));
}
