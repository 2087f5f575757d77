import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { AdminDeps } from "../deps.js";
import type { ExecutionName } from "../execution/state.js";
import { publishRecorded } from "../ingest/recorded.js";
import { publishWake } from "./publish.js";

export type AnnounceDeps = Pick<AdminDeps, "db" | "bus" | "config" | "clock" | "logger">;

export interface RecordedEnd {
  readonly execution: ExecutionName;
  /** Number of its row. */
  readonly rowId: bigint;
  /** The phase that stands. */
  readonly phase: WorkflowExecution_Phase;
}

/** Tells propeller that the ends of these executions are in the database, and the nodes that launched them that they are over. */
export async function announceEnds(deps: AnnounceDeps, ended: readonly RecordedEnd[]): Promise<void> {
  for (const { execution, phase } of ended) publishRecorded(deps, execution, phase);
  await wakeParents(
    deps,
    ended.map(({ rowId }) => rowId),
  );
}

/** Wakes the nodes that launched these executions, by the numbers of their rows, if nodes did. It never fails: who waits asks again. */
export async function wakeParents(deps: Omit<AnnounceDeps, "clock">, children: readonly bigint[]): Promise<void> {
  if (children.length === 0) return;
  try {
    for (const { parent, nodeId } of await findParents(deps.db, children)) {
      publishWake(deps, parent, { case: "nodeId", value: nodeId });
    }
  } catch (error) {
    deps.logger.warn({ executions: children.length, error: String(error) }, "parents of executions that ended cannot be woken now");
  }
}

async function findParents(
  db: Queryable,
  children: readonly bigint[],
): Promise<readonly { readonly parent: ExecutionName; readonly nodeId: string }[]> {
  const { rows } = await db.query<{ project: string; domain: string; name: string; node_id: string }>({
    name: "find-parents-of-ended",
    text: `SELECT p.execution_project AS project, p.execution_domain AS domain, p.execution_name AS name, child.parent_node_id AS node_id
      FROM executions child JOIN executions p ON p.id = child.parent_execution_id WHERE child.id = ANY($1::bigint[])`,
    values: [children],
  });
  return rows.map(({ node_id: nodeId, ...parent }) => ({ parent, nodeId }));
}
