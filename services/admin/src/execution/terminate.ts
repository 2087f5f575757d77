import { isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { AdminDeps } from "../deps.js";
import { ABORT_ORDER } from "../event/order.js";
import { workflowPhaseName } from "../event/phase-name.js";
import { alreadyEnded } from "../event/refuse.js";
import { changeExecution } from "./change.js";
import { OUTBOX_CHANNEL } from "./insert.js";
import type { ExecutionName } from "./state.js";

/**
 * Asks for the end of an execution: the row says so at once, the data plane is told through
 * the outbox, and the engine's last event ends it. Asked again, the later cause stands.
 *
 * @throws RpcError NOT_FOUND, or FAILED_PRECONDITION when it has ended.
 */
export async function terminateExecution(
  { db }: Pick<AdminDeps, "db">,
  id: ExecutionName,
  { cause, principal }: { readonly cause: string; readonly principal: string },
): Promise<void> {
  await changeExecution(db, id, {
    decide: ({ state }) => {
      if (isTerminalWorkflowEvent(state.phase)) {
        throw alreadyEnded("Cannot abort an already terminated workflow execution", workflowPhaseName(state.phase));
      }
      return {
        ...state,
        phase: WorkflowExecution_Phase.ABORTING,
        result: { kind: "abort", cause: cause.replaceAll("\0", ""), principal },
        resultOrder: ABORT_ORDER,
      };
    },
    also: (tx, { rowId }) => oweAbort(tx, rowId),
  });
}

/** Puts an abort into the outbox; an entry that waits for another try is due at once. */
async function oweAbort(tx: Queryable, rowId: bigint): Promise<void> {
  await tx.query({
    name: "owe-abort",
    text: `WITH entry AS (
        INSERT INTO execution_outbox (execution_id, action) VALUES ($1, 'abort')
        ON CONFLICT (execution_id, action) DO UPDATE SET available_at = now()
      ), launch AS (
        -- A launch that waits for its next try is dropped by the launcher once it sees the row.
        UPDATE execution_outbox SET available_at = least(available_at, now()) WHERE execution_id = $1 AND action = 'launch' AND last_error <> ''
      ), asked AS (
        UPDATE executions SET abort_requested_at = COALESCE(abort_requested_at, now()) WHERE id = $1
      ) SELECT pg_notify($2, '')`,
    values: [rowId, OUTBOX_CHANNEL],
  });
}
