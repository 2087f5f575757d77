import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { AdminDeps } from "../../deps.js";
import type { ExecutionName } from "../store/execution/state.js";
import { publishTerminalAck } from "./publish-terminal-ack.js";
import { publishWakeUp } from "./publish-wake-up.js";

export type CompletionPublisherDeps = Pick<AdminDeps, "db" | "bus" | "config" | "clock" | "logger">;

export interface CompletedExecutionRef {
  readonly execution: ExecutionName;
  /** Row id. */
  readonly rowId: bigint;
  /** Stored phase. */
  readonly phase: WorkflowExecution_Phase;
}

/** Acknowledges the ends of these executions to propeller, and wakes up their parent nodes. */
export async function publishCompletions(deps: CompletionPublisherDeps, ended: readonly CompletedExecutionRef[]): Promise<void> {
  for (const { execution, phase } of ended) publishTerminalAck(deps, execution, phase);
  await wakeParentNodes(
    deps,
    ended.map(({ rowId }) => rowId),
  );
}

/** Wakes up the parent nodes, if any, of these executions, by row id. Never rejects: propeller also polls. */
export async function wakeParentNodes(deps: Omit<CompletionPublisherDeps, "clock">, children: readonly bigint[]): Promise<void> {
  if (children.length === 0) return;
  try {
    for (const { parent, nodeId } of await findParents(deps.db, children)) {
      publishWakeUp(deps, parent, { case: "nodeId", value: nodeId });
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
