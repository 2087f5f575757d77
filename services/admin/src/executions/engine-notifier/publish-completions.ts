import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionsDeps } from "../deps.js";
import type { ExecutionName } from "../model/identifier.js";
import { publishTerminalAck } from "./publish-terminal-ack.js";
import { publishWakeUp } from "./publish-wake-up.js";
import { findParents } from "../store/execution/find.js";

export type CompletionPublisherDeps = Pick<ExecutionsDeps, "db" | "bus" | "config" | "clock" | "logger">;

export interface CompletedExecutionRef {
  readonly execution: ExecutionName;
  /** Row id. */
  readonly rowId: bigint;
  /** Stored phase. */
  readonly phase: WorkflowExecution_Phase;
}

/**
 * Acknowledges to propeller that the terminal phases of these executions are stored, and wakes up
 * their parent nodes.
 */
export async function publishCompletions(deps: CompletionPublisherDeps, ended: readonly CompletedExecutionRef[]): Promise<void> {
  for (const { execution, phase } of ended) publishTerminalAck(deps, execution, phase);
  await wakeParentNodes(
    deps,
    ended.map(({ rowId }) => rowId),
  );
}

/**
 * Wakes up the parent nodes, if any, of these executions, by row id. Never rejects: propeller also
 * polls.
 */
export async function wakeParentNodes(deps: Omit<CompletionPublisherDeps, "clock">, children: readonly bigint[]): Promise<void> {
  if (children.length === 0) return;
  try {
    for (const { parent, nodeId } of await findParents(deps.db, children)) {
      publishWakeUp(deps, parent, { case: "nodeId", value: nodeId });
    }
  } catch (error) {
    if (!deps.db.outages.postpone("wake-ups of parent nodes", error))
      deps.logger.warn(
        { executions: children.length, error: String(error) },
        "parent nodes of completed executions cannot be woken up now",
      );
  }
}
