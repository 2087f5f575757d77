import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Database, Queryable } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import { ABORT_SEQ, sanitizeText } from "@flyte-ts/execution-state";
import type { AdminDeps } from "../../deps.js";
import { workflowPhaseName } from "../projection/phase-name.js";
import { alreadyEnded } from "../../events/rpc/validate-event.js";
import { updateExecutionState } from "./update-state.js";
import { OUTBOX_CHANNEL } from "../store/execution/insert.js";
import type { ExecutionName } from "../store/execution/state.js";

interface Abort {
  readonly cause: string;
  readonly principal: string;
}

/**
 * Requests the abort of an execution: stores it in the row, enqueues the request to the data plane in the outbox, and
 * leaves the end to the engine's terminal event. A later request replaces the cause.
 *
 * @throws RpcError NOT_FOUND, or FAILED_PRECONDITION when it is terminal.
 */
export async function terminateExecution(
  { db, publishChanged: changed }: Pick<AdminDeps, "db" | "publishChanged">,
  id: ExecutionName,
  abort: Abort,
): Promise<void> {
  try {
    const rowId = await abortExecution(db, id, abort);
    changed?.([rowId]);
  } catch (error) {
    const terminal = error instanceof RpcError && error.code === Code.FAILED_PRECONDITION;
    if (!terminal || !(await hasJustBeenAborted(db, id, abort))) throw error;
  }
}

/**
 * True when an identical request aborted the execution at most 2 s ago: clients such as flytekit retry at once when
 * they get no response, and the execution may end in between. Flyte rejects a later request.
 */
async function hasJustBeenAborted(db: Queryable, { project, domain, name }: ExecutionName, { cause, principal }: Abort): Promise<boolean> {
  const { rows } = await db.query({
    name: "find-repeated-abort",
    text: `SELECT 1 FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3
      AND phase = 'ABORTED' AND abort_cause = $4 AND abort_principal = $5 AND abort_requested_at > now() - interval '2 seconds'`,
    values: [project, domain, name, sanitizeText(cause), principal],
  });
  return rows.length > 0;
}

async function abortExecution(db: Database, id: ExecutionName, { cause, principal }: Abort): Promise<bigint> {
  const { before } = await updateExecutionState(db, id, {
    apply: ({ state }) => {
      if (isTerminalWorkflowEvent(state.phase)) {
        throw alreadyEnded("Cannot abort an already terminated workflow execution", workflowPhaseName(state.phase));
      }
      return {
        ...state,
        phase: WorkflowExecution_Phase.ABORTING,
        result: { kind: "abort", cause: sanitizeText(cause), principal },
        resultSeq: ABORT_SEQ,
      };
    },
    inTransaction: (tx, { rowId }) => enqueueAbort(tx, rowId),
  });
  return before.rowId;
}

/** Enqueues an abort in the outbox; an entry in backoff becomes due now. */
async function enqueueAbort(tx: Queryable, rowId: bigint): Promise<void> {
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
