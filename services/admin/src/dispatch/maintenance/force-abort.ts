import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { isUnavailable, type Queryable } from "@flyte-ts/postgres";
import { nanosOfDate, foldWorkflow, nextWorkflowSeq } from "@flyte-ts/execution-state";
import type { AdminDeps } from "../../deps.js";
import { updateExecutionState } from "../../executions/execution/update-state.js";
import type { ExecutionName } from "../../executions/store/execution/state.js";
import { type CompletionPublisherDeps, wakeParentNodes } from "../../executions/engine-notifier/publish-completions.js";
import { ensureEntry } from "../../executions/store/outbox/outbox.js";

export type ForceAbortDeps = CompletionPublisherDeps & Pick<AdminDeps, "publishChanged">;

/**
 * Makes executions terminal whose abort the engine has not confirmed before the deadline. The abort stays in the outbox
 * until the data plane has accepted it, and is enqueued again when an event shows that the execution still runs.
 * Returns their number.
 */
export async function forceAborts(
  deps: ForceAbortDeps,
  { deadlineMs, limit }: { readonly deadlineMs: number; readonly limit: number },
): Promise<number> {
  const overdue = await findOverdue(deps.db, { deadlineMs, limit });
  const ended: bigint[] = [];
  for (const execution of overdue) {
    try {
      const forced = await forceTerminate(deps, execution);
      ended.push(execution.rowId);
      if (forced) deps.logger.warn({ execution: textOf(execution), deadlineMs }, "execution aborted without its engine's word");
    } catch (error) {
      if (isUnavailable(error)) throw error;
      // A failure must not block the others.
      deps.logger.error({ execution: textOf(execution), error: String(error) }, "overdue abort cannot be ended");
    }
  }
  await wakeParentNodes(deps, ended);
  return ended.length;
}

/**
 * Makes an aborting execution terminal without its engine, and keeps an abort in the outbox for its data plane. Returns
 * false when it became terminal in the meantime.
 */
export async function forceTerminate(
  { db, clock, publishChanged: changed }: Pick<ForceAbortDeps, "db" | "clock" | "publishChanged">,
  execution: ExecutionName,
): Promise<boolean> {
  const update = { phase: WorkflowExecution_Phase.ABORTED, occurredAt: nanosOfDate(clock()) };
  const { before } = await updateExecutionState(db, execution, {
    apply: ({ state }) => (state.phase === WorkflowExecution_Phase.ABORTING ? foldWorkflow(state, update, nextWorkflowSeq(state)) : state),
    inTransaction: async (tx, { rowId, state }) => {
      if (state.phase !== WorkflowExecution_Phase.ABORTING) return;
      await markAbortForced(tx, rowId);
      await ensureEntry(tx, rowId, "abort");
    },
  });
  changed?.([before.rowId]);
  return before.state.phase === WorkflowExecution_Phase.ABORTING;
}

interface Overdue extends ExecutionName {
  readonly rowId: bigint;
}

async function findOverdue(
  db: Queryable,
  { deadlineMs, limit }: { readonly deadlineMs: number; readonly limit: number },
): Promise<readonly Overdue[]> {
  const { rows } = await db.query<Overdue>({
    name: "find-overdue-aborts",
    text: `SELECT id AS "rowId", execution_project AS project, execution_domain AS domain, execution_name AS name FROM executions
      WHERE phase = 'ABORTING' AND abort_requested_at <= now() - $1 * interval '1 millisecond'
      ORDER BY abort_requested_at LIMIT $2`,
    values: [deadlineMs, limit],
  });
  return rows;
}

const textOf = ({ project, domain, name }: ExecutionName): string => `${project}/${domain}/${name}`;

/** Marks an execution as terminal without confirmation of its engine. */
async function markAbortForced(tx: Queryable, rowId: bigint): Promise<void> {
  await tx.query({ name: "mark-forced", text: "UPDATE executions SET abort_forced = true WHERE id = $1", values: [rowId] });
}
