import type { Queryable } from "@flyte-ts/postgres";
import { ExecutionMetadata_ExecutionMode } from "@flyte-ts/idl/flyteidl/admin/execution_pb";

export interface TreeRow {
  root: bigint;
  id: bigint;
  project: string;
  domain: string;
  name: string;
  phase: string;
  settled: boolean;
  owed: boolean;
  parent_id: bigint | null;
  parent: string | null;
  needing_ids: bigint[];
  needing: string[];
  marked: boolean;
}

const text = (row: string) => `${row}.execution_project || '/' || ${row}.execution_domain || '/' || ${row}.execution_name`;

/**
 * Recoveries, which share outputs with the original; and active executions that triggers started
 * with its outputs.
 */
const NEEDING = `SELECT r.id, ${text("r")} AS text FROM executions r WHERE r.source_execution_id = e.id AND r.mode = $2
  UNION SELECT x.id, ${text("x")} FROM trigger_firings f JOIN executions x ON x.execution_project = f.execution_project
      AND x.execution_domain = f.execution_domain AND x.execution_name = f.execution_name
    WHERE f.source_execution_id = e.id AND x.phase NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT')`;

const READ = `WITH RECURSIVE tree AS (
    SELECT id AS root, id FROM executions WHERE id = ANY($1::bigint[])
    UNION SELECT tree.root, child.id FROM tree JOIN executions child ON child.parent_execution_id = tree.id)
  SELECT tree.root, e.id, e.execution_project AS project, e.execution_domain AS domain, e.execution_name AS name, e.phase,
    e.settled_at IS NOT NULL AS settled,
    EXISTS (SELECT FROM execution_outbox o WHERE o.execution_id = e.id) OR EXISTS (SELECT FROM execution_ends n WHERE n.execution_id = e.id)
      OR EXISTS (SELECT FROM trigger_firings f WHERE f.source_execution_id = e.id AND f.state = 'waiting') AS owed,
    p.id AS parent_id, ${text("p")} AS parent,
    ARRAY(SELECT n.id FROM (${NEEDING}) AS n ORDER BY n.id) AS needing_ids, ARRAY(SELECT n.text FROM (${NEEDING}) AS n ORDER BY n.id) AS needing,
    EXISTS (SELECT FROM execution_deletions d WHERE d.execution_id = e.id) AS marked
  FROM tree JOIN executions e ON e.id = tree.id LEFT JOIN executions p ON p.id = e.parent_execution_id
  ORDER BY tree.root, e.id`;

/** Reads executions and all their descendants. */
export async function readTreeRows(db: Queryable, roots: readonly bigint[]): Promise<readonly TreeRow[]> {
  const values = [roots, ExecutionMetadata_ExecutionMode.RECOVERED];
  return (await db.query<TreeRow>({ name: "read-execution-trees", text: READ, values })).rows;
}
