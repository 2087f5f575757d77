import type { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { bigintArray, type Queryable } from "@flyte-ts/postgres";
import { nodePhaseOf } from "../../model/phase-name.js";
import type { TaskKey } from "../attempt/state.js";

const NON_TERMINAL_NODE = "NOT IN ('SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED', 'SKIPPED', 'RECOVERED')";
const NON_TERMINAL_ATTEMPT = "NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED')";

const HAS_NON_TERMINAL_ROWS = `EXISTS (SELECT 1 FROM node_executions n WHERE n.execution_id = asked.id AND n.phase ${NON_TERMINAL_NODE})
  OR EXISTS (SELECT 1 FROM task_executions t WHERE t.execution_id = asked.id AND t.phase ${NON_TERMINAL_ATTEMPT})`;

/** Filters executions to those with a non-terminal node or attempt. */
export async function executionsWithNonTerminalRows(db: Queryable, executionIds: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (executionIds.length === 0) return new Set();
  const { rows } = await db.query<{ id: bigint }>({
    name: "executions-with-non-terminal-rows",
    text: `SELECT asked.id FROM unnest($1::bigint[]) AS asked(id) WHERE ${HAS_NON_TERMINAL_ROWS}`,
    values: [bigintArray(executionIds)],
  });
  return new Set(rows.map(({ id }) => id));
}

/**
 * An execution, and the number of its terminal nodes that its engine reports; 0 when it reports
 * none.
 */
export interface ReportedExecution {
  readonly executionId: bigint;
  readonly endedNodes: number;
}

/** Filters executions to those with a non-terminal or missing row of a node or attempt. */
export async function incompleteExecutions(db: Queryable, reported: readonly ReportedExecution[]): Promise<ReadonlySet<bigint>> {
  if (reported.length === 0) return new Set();
  const { rows } = await db.query<{ id: bigint }>({
    name: "incomplete-executions",
    text: `SELECT asked.id FROM unnest($1::bigint[], $2::bigint[]) AS asked(id, nodes) WHERE ${HAS_NON_TERMINAL_ROWS}
      OR asked.nodes > (SELECT count(*) FROM node_executions n WHERE n.execution_id = asked.id AND n.phase <> 'SKIPPED')`,
    values: [
      bigintArray(reported.map(({ executionId }) => executionId)),
      bigintArray(reported.map(({ endedNodes }) => BigInt(endedNodes))),
    ],
  });
  return new Set(rows.map(({ id }) => id));
}

export interface NonTerminalNode {
  readonly nodeId: string;
  readonly parentNodeId: string | undefined;
  readonly parent: NodeExecution_Phase | undefined;
  readonly ofEarlierAttempt: boolean;
}

/** Finds non-terminal nodes, top-level ones first. */
export async function findNonTerminalNodes(db: Queryable, executionId: bigint, limit: number): Promise<readonly NonTerminalNode[]> {
  const { rows } = await db.query<{ node_id: string; parent_node_id: string | null; parent: string | null; earlier: boolean }>({
    name: "find-non-terminal-nodes",
    text: `SELECT n.node_id, n.parent_node_id, p.phase AS parent,
        n.parent_node_id IS NOT NULL AND EXISTS (SELECT 1 FROM node_executions later
          WHERE later.execution_id = n.execution_id AND later.parent_node_id = n.parent_node_id
            AND (length(later.retry_group), later.retry_group) > (length(n.retry_group), n.retry_group)) AS earlier
      FROM node_executions n
      LEFT JOIN node_executions p ON p.execution_id = n.execution_id AND p.node_id = n.parent_node_id
      WHERE n.execution_id = $1 AND n.phase ${NON_TERMINAL_NODE}
      ORDER BY n.parent_node_id IS NOT NULL, n.id LIMIT $2`,
    values: [executionId, limit],
  });
  return rows.map((row) => ({
    nodeId: row.node_id,
    parentNodeId: row.parent_node_id ?? undefined,
    parent: row.parent === null ? undefined : nodePhaseOf(row.parent),
    ofEarlierAttempt: row.earlier,
  }));
}

export interface NonTerminalAttempt {
  readonly key: TaskKey;
  readonly node: NodeExecution_Phase;
  readonly isLast: boolean;
}

/** Finds non-terminal attempts. */
export async function findNonTerminalAttempts(db: Queryable, executionId: bigint, limit: number): Promise<readonly NonTerminalAttempt[]> {
  const { rows } = await db.query<{
    node_id: string;
    project: string;
    domain: string;
    name: string;
    version: string;
    retry_attempt: bigint;
    node: string;
    is_last: boolean;
  }>({
    name: "find-non-terminal-attempts",
    text: `SELECT t.node_id, t.project, t.domain, t.name, t.version, t.retry_attempt, n.phase AS node,
        NOT EXISTS (SELECT 1 FROM task_executions later
          WHERE later.execution_id = t.execution_id AND later.node_id = t.node_id AND later.retry_attempt > t.retry_attempt) AS is_last
      FROM task_executions t JOIN node_executions n ON n.execution_id = t.execution_id AND n.node_id = t.node_id
      WHERE t.execution_id = $1 AND t.phase ${NON_TERMINAL_ATTEMPT} ORDER BY t.id LIMIT $2`,
    values: [executionId, limit],
  });
  return rows.map((row) => ({
    key: {
      executionId,
      nodeId: row.node_id,
      task: { project: row.project, domain: row.domain, name: row.name, version: row.version },
      retryAttempt: Number(row.retry_attempt),
    },
    node: nodePhaseOf(row.node),
    isLast: row.is_last,
  }));
}
