import type { Queryable } from "@flyte-ts/postgres";
import { indexedBy } from "./indexed-by.js";
import type { Scope } from "./scope.js";

const MAX_WORKFLOWS = 40;
const MAX_RUNS = 24;
/** Workflows that are found by name, besides those of the newest executions. */
const MAX_NAMES = 500;
const MAX_NEWEST = 1_000;

export interface RunRow {
  workflow_name: string;
  execution_name: string;
  phase: string;
  created_at: Date;
  accepted_ns: bigint;
  started_ns: bigint | null;
  ended_ns: bigint | null;
  duration: bigint;
}

const inScope = "execution_project = $1 AND execution_domain = $2";

/**
 * Steps from name to name in the index of workflow names, so that a workflow with many executions
 * costs as much as one with few.
 */
const NAMES = `names (name) AS (
    (SELECT workflow_name FROM executions WHERE ${inScope} ORDER BY workflow_name LIMIT 1)
    UNION ALL
    SELECT (SELECT workflow_name FROM executions WHERE ${inScope} AND workflow_name > names.name ORDER BY workflow_name LIMIT 1)
    FROM names WHERE names.name IS NOT NULL
  )`;

const LATEST_FIRST = "ORDER BY workflow_name DESC, created_at DESC, id DESC";

/**
 * Finds the latest runs of the workflows that ran last: the latest workflow first, its latest run
 * first.
 */
export async function findWorkflowRuns(db: Queryable, { project, domain }: Scope): Promise<readonly RunRow[]> {
  const { rows } = await db.query<RunRow>({
    name: "overview-workflow-runs",
    text: `WITH RECURSIVE ${NAMES}, candidates (name) AS (
        (SELECT name FROM names WHERE name IS NOT NULL LIMIT ${MAX_NAMES})
        UNION
        SELECT workflow_name FROM (SELECT workflow_name FROM executions WHERE ${inScope} ORDER BY created_at DESC LIMIT ${MAX_NEWEST}) AS newest
      ), latest AS MATERIALIZED (
        SELECT c.name, e.created_at FROM candidates AS c CROSS JOIN LATERAL (SELECT created_at FROM executions
          WHERE ${inScope} AND ${indexedBy("workflow_name", "c.name")} ${LATEST_FIRST} LIMIT 1) AS e
        ORDER BY e.created_at DESC, c.name LIMIT ${MAX_WORKFLOWS}
      )
      SELECT l.name AS workflow_name, r.* FROM latest AS l CROSS JOIN LATERAL (
        SELECT execution_name, phase, created_at, accepted_ns, started_ns, ended_ns, duration FROM executions
        WHERE ${inScope} AND ${indexedBy("workflow_name", "l.name")} AND state = 0 ${LATEST_FIRST} LIMIT ${MAX_RUNS}) AS r
      ORDER BY l.created_at DESC, l.name, r.created_at DESC`,
    values: [project, domain],
  });
  return rows;
}
