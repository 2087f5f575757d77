import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { isUnavailable } from "@flyte-ts/postgres";
import { foldWorkflow, nanosOfDate, nextWorkflowSeq } from "@flyte-ts/execution-state";
import type { DispatchDeps } from "../deps.js";
import {
  type CompletionPublisherDeps,
  updateExecutionState,
  wakeParentNodes,
  executionUpdates,
  type executionIds,
  outboxQueue,
} from "../../executions/index.js";

export type ForceAbortDeps = CompletionPublisherDeps & Pick<DispatchDeps, "publishChanged">;

/**
 * Makes executions terminal whose abort the engine has not confirmed before the deadline. The abort
 * stays in the outbox until the data plane has accepted it, and is enqueued again when an event
 * shows that the execution still runs. Returns the number of executions.
 */
export async function forceAborts(
  deps: ForceAbortDeps,
  { deadlineMs, limit }: { readonly deadlineMs: number; readonly limit: number },
): Promise<number> {
  const overdue = await executionUpdates.findOverdue(deps.db, { deadlineMs, limit });
  const ended: bigint[] = [];
  for (const execution of overdue) {
    try {
      const forced = await forceTerminate(deps, execution);
      ended.push(execution.rowId);
      if (forced) deps.logger.warn({ execution: textOf(execution), deadlineMs }, "execution aborted without confirmation of its engine");
    } catch (error) {
      if (isUnavailable(error)) throw error;
      // A failure must not block the others.
      deps.logger.error({ execution: textOf(execution), error: String(error) }, "forced abort failed");
    }
  }
  await wakeParentNodes(deps, ended);
  return ended.length;
}

/**
 * Makes an aborting execution terminal without its engine, and keeps an abort in the outbox for its
 * data plane. Returns false when it became terminal in the meantime.
 */
export async function forceTerminate(
  { db, clock, publishChanged }: Pick<ForceAbortDeps, "db" | "clock" | "publishChanged">,
  execution: executionIds.ExecutionName,
): Promise<boolean> {
  const update = { phase: WorkflowExecution_Phase.ABORTED, occurredAt: nanosOfDate(clock()) };
  const { before } = await updateExecutionState(db, execution, {
    apply: ({ state }) => (state.phase === WorkflowExecution_Phase.ABORTING ? foldWorkflow(state, update, nextWorkflowSeq(state)) : state),
    inTransaction: async (tx, { rowId, state }) => {
      if (state.phase !== WorkflowExecution_Phase.ABORTING) return;
      await executionUpdates.markAbortForced(tx, rowId);
      await outboxQueue.ensureEntry(tx, rowId, "abort");
    },
  });
  publishChanged?.([before.rowId]);
  return before.state.phase === WorkflowExecution_Phase.ABORTING;
}

const textOf = ({ project, domain, name }: executionIds.ExecutionName): string => `${project}/${domain}/${name}`;
