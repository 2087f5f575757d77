import type { Database } from "@flyte-ts/postgres";
import { executionRows } from "../../../executions/index.js";
import { insertFinishedAuditEntries } from "../../../identity/index.js";
import { deleteFinishedDeliveries } from "../../store/deliveries.js";
import type { ClaimedDeletion } from "./claimed-deletion.js";

/** Child rows per statement. An attempt has several events. */
export const LIMITS = { attempts: 2_000, nodes: 5_000 };

/** An execution whose blobs are deleted. */
export interface EmptiedExecution {
  readonly one: ClaimedDeletion;
  /** Number of deleted blobs. */
  readonly blobs: number;
}

/**
 * Deletes the rows of executions: child rows first, in as many transactions as they need, and the
 * executions with the last of them. Adds an audit entry for each that existed.
 */
export async function deleteRows(db: Pick<Database, "transaction">, emptied: readonly EmptiedExecution[], at: Date): Promise<void> {
  const executions = emptied.map(({ one }) => one);
  const ids = executions.map(({ id }) => id);
  const deleteSome = () =>
    db.transaction(async (tx) => {
      if (!(await executionRows.deleteChildRows(tx, ids, LIMITS))) return false;
      await deleteFinishedDeliveries(tx, executions);
      const existed = await executionRows.deleteExecutionRows(tx, executions, at);
      const entries = emptied.filter(({ one }) => existed.has(one.id)).map((each) => auditEntry(each, at));
      if (entries.length > 0) await insertFinishedAuditEntries(tx, entries);
      return true;
    });
  while (!(await deleteSome()));
}

function auditEntry({ one, blobs }: EmptiedExecution, at: Date) {
  const { project, domain, name } = one;
  return {
    at,
    subject: one.byPolicy ? "retention policy" : one.requestedBy,
    clientId: "",
    method: "flytets.admin.v1.RetentionService/DeleteExecution",
    project,
    domain,
    identifiers: JSON.stringify({ id: { project, domain, name } }),
    requestId: "",
    peer: "",
    transport: "internal",
    message: `deleted with ${blobs} blobs${one.keepsRawOutputs ? "; raw outputs stay for the cache" : ""}`,
  };
}
