import type { Database, Queryable } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { WorkflowState } from "@flyte-ts/execution-state";
import { type ExecutionName, executionNotFound } from "../model/identifier.js";
import { becomesTerminal, findExecutionState, saveExecutionStates, type StoredExecutionState } from "../store/execution/state.js";

/** Concurrent writers won too many times; the caller may retry. */
export class TooManyConflictsError extends RpcError {
  constructor(message: string) {
    super(Code.ABORTED, message);
  }
}

const ATTEMPTS = 20;

export interface StateUpdate {
  /**
   * Computes the new state from the stored one; called again after a conflict with another writer.
   * It may throw.
   */
  readonly apply: (stored: StoredExecutionState) => WorkflowState;
  /** Further writes of the same transaction. */
  readonly inTransaction?: (tx: Queryable, stored: StoredExecutionState) => Promise<void>;
}

/**
 * Updates the state of one execution; returns the states before and after.
 *
 * @throws RpcError NOT_FOUND, and errors of `apply`.
 */
export async function updateExecutionState(
  db: Database,
  id: ExecutionName,
  update: StateUpdate,
): Promise<{ readonly before: StoredExecutionState; readonly after: WorkflowState }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = await findExecutionState(db, id);
    if (before === undefined) throw executionNotFound(id);
    const after = update.apply(before);
    const saved = await save(db, before, { after, also: update.inTransaction });
    if (saved) return { before, after };
  }
  throw new TooManyConflictsError(`execution ${id.project}/${id.domain}/${id.name} could not be changed`);
}

async function save(
  db: Database,
  before: StoredExecutionState,
  { after, also }: { readonly after: WorkflowState; readonly also: StateUpdate["inTransaction"] },
): Promise<boolean> {
  const write = async (tx: Queryable): Promise<boolean> => {
    const saved = await saveExecutionStates(tx, [
      { rowId: before.rowId, state: after, revision: before.revision + 1, becomesTerminal: becomesTerminal(before.state, after) },
    ]);
    return saved.size === 1;
  };
  if (also === undefined) return write(db);
  return db.transaction(async (tx) => {
    if (!(await write(tx))) return false;
    await also(tx, before);
    return true;
  });
}
