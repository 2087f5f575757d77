import type { Queryable } from "@flyte-ts/postgres";

export interface FailedNodeRow {
  id: bigint;
  node_id: string;
  failed_ns: bigint;
  /** Encoded core.ExecutionError; null when the end was inferred. */
  error: Uint8Array | null;
  /** Reason of an inferred end. */
  settled: string | null;
  /** Name of the task of the node's first attempt; null for a node without attempts. */
  task: string | null;
}

/** Position after a row of {@link findFailedNodes}. */
export interface FailedNodePosition {
  readonly failedNs: bigint;
  readonly id: bigint;
}

/**
 * Finds failed nodes without failed children, the one that failed first at the front. A node counts
 * as failed at its last event.
 */
export async function findFailedNodes(
  db: Queryable,
  executionId: bigint,
  { after, limit }: { readonly after: FailedNodePosition; readonly limit: number },
): Promise<readonly FailedNodeRow[]> {
  const failed = (table: string) => `${table}.phase IN ('FAILED', 'FAILING', 'TIMED_OUT')`;
  const { rows } = await db.query<FailedNodeRow>({
    name: "find-failed-nodes",
    text: `SELECT n.id, n.node_id, n.updated_ns AS failed_ns, n.error, n.settled,
        (SELECT attempt.name FROM task_executions attempt
          WHERE attempt.execution_id = n.execution_id AND attempt.node_id = n.node_id
          ORDER BY attempt.retry_attempt LIMIT 1) AS task
      FROM node_executions n
      WHERE n.execution_id = $1 AND ${failed("n")} AND (n.error IS NOT NULL OR n.settled IS NOT NULL)
        AND (n.updated_ns, n.id) > ($2::bigint, $3::bigint)
        AND NOT EXISTS (SELECT 1 FROM node_executions child WHERE child.execution_id = n.execution_id
          AND child.parent_node_id = n.node_id AND ${failed("child")})
      ORDER BY n.updated_ns, n.id LIMIT $4`,
    values: [executionId, after.failedNs, after.id, limit],
  });
  return rows;
}
