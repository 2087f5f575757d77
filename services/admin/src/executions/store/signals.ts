import type { SignalIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { baseColumns, type ListEntity, type ListPlan, selectPage } from "../../platform/index.js";

export interface SignalRow {
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  signal_id: string;
  type: Uint8Array;
  value: Uint8Array | null;
}

const columns = "execution_project, execution_domain, execution_name, signal_id, type, value";

export type SignalId = SignalIdentifier & { readonly executionId: WorkflowExecutionIdentifier };

const isKey = "execution_project = $1 AND execution_domain = $2 AND execution_name = $3 AND signal_id = $4";

function key({ executionId: { project, domain, name }, signalId }: SignalId): string[] {
  return [project, domain, name, signalId];
}

/** Returns the signal; inserts it when it does not exist. */
export async function getOrInsertSignal(db: Queryable, id: SignalId, type: Uint8Array): Promise<SignalRow | undefined> {
  // The update changes nothing; it makes the statement return the existing row.
  const { rows } = await db.query<SignalRow>({
    name: "get-or-create-signal",
    text: `INSERT INTO signals (execution_project, execution_domain, execution_name, signal_id, type) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (execution_project, execution_domain, execution_name, signal_id) DO UPDATE SET type = signals.type
      RETURNING ${columns}`,
    values: [...key(id), type],
  });
  return rows[0];
}

export async function findSignal(db: Queryable, id: SignalId): Promise<SignalRow | undefined> {
  const { rows } = await db.query<SignalRow>({
    name: "find-signal",
    text: `SELECT ${columns} FROM signals WHERE ${isKey}`,
    values: key(id),
  });
  return rows[0];
}

export async function listSignals(db: Queryable, plan: ListPlan): Promise<readonly SignalRow[]> {
  return (await db.query<SignalRow>(selectPage(plan, columns))).rows;
}

export async function setSignalValue(db: Queryable, id: SignalId, value: Uint8Array): Promise<void> {
  await db.query({
    name: "set-signal",
    text: `UPDATE signals SET value = $5, updated_at = clock_timestamp() WHERE ${isKey}`,
    values: [...key(id), value],
  });
}

/** Filters and sort keys of ListSignals. */
export const signalEntity: ListEntity = {
  prefix: "signal",
  table: "signals",
  key: "id",
  columns: {
    ...baseColumns,
    execution_project: { type: "text" },
    execution_domain: { type: "text" },
    execution_name: { type: "text" },
    signal_id: { type: "text" },
    type: { type: "bytes" },
    value: { type: "bytes" },
  },
  related: {},
};
