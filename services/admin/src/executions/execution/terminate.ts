import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Database } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import { ABORT_SEQ, sanitizeText } from "@flyte-ts/execution-state";
import type { ExecutionsDeps } from "../deps.js";
import { workflowPhaseName } from "../model/phase-name.js";
import { alreadyEnded } from "../model/ended-execution.js";
import { updateExecutionState } from "./update-state.js";
import type { ExecutionName } from "../model/identifier.js";
import { type Abort, enqueueAbort, hasJustBeenAborted } from "../store/outbox/aborts.js";

/**
 * Requests the abort of an execution: stores it in the row, enqueues the request to the data plane
 * in the outbox, and leaves the end to the engine's terminal event. A later request replaces the
 * cause.
 *
 * @throws RpcError NOT_FOUND, or FAILED_PRECONDITION when it is terminal.
 */
export async function terminateExecution(
  { db, publishChanged }: Pick<ExecutionsDeps, "db" | "publishChanged">,
  id: ExecutionName,
  abort: Abort,
): Promise<void> {
  try {
    const rowId = await abortExecution(db, id, abort);
    publishChanged?.([rowId]);
  } catch (error) {
    const terminal = error instanceof RpcError && error.code === Code.FAILED_PRECONDITION;
    if (!terminal || !(await hasJustBeenAborted(db, id, abort))) throw error;
  }
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
