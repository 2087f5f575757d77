import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { bigintArray, type Query, type Queryable } from "@flyte-ts/postgres";
import { elapsed, type WorkflowState } from "@flyte-ts/execution-state";
import type { ColumnSpec } from "../multi-row-write.js";
import { update } from "../multi-row-write.js";
import { workflowPhaseName, workflowPhaseOf } from "../../model/phase-name.js";
import type { ExecutionName } from "../../model/identifier.js";

export interface StoredExecutionState extends ExecutionName {
  readonly rowId: bigint;
  readonly cluster: string;
  readonly state: WorkflowState;
  readonly revision: number;
}

export interface ExecutionStateWrite {
  readonly rowId: bigint;
  readonly state: WorkflowState;
  /** Revision that was read, plus one. */
  readonly revision: number;
  /** The write makes the execution terminal, so a completion is enqueued. */
  readonly becomesTerminal: boolean;
  /**
   * The write makes the execution terminal, and all its nodes and attempts are terminal. Check
   * again afterwards (all-terminal-mark.ts).
   */
  readonly allTerminal?: boolean;
}

interface Row {
  id: bigint;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  cluster: string;
  revision: number;
  phase: string;
  accepted_ns: bigint;
  phase_order: bigint;
  started_ns: bigint | null;
  started_order: bigint;
  updated_ns: bigint;
  ended_ns: bigint | null;
  result_order: bigint;
}

const select = `SELECT id, execution_project, execution_domain, execution_name, cluster, revision, phase, accepted_ns, phase_order, started_ns,
  started_order, updated_ns, ended_ns, result_order FROM executions`;

/** Loads the state of executions that events have reported, without results. */
export async function loadExecutionStates(db: Queryable, rowIds: readonly bigint[]): Promise<Map<bigint, StoredExecutionState>> {
  const { rows } = await db.query<Row>({
    name: "load-execution-states",
    text: `${select} WHERE id = ANY($1::bigint[])`,
    values: [bigintArray(rowIds)],
  });
  return new Map(rows.map((row) => [row.id, stored(row)]));
}

export async function findExecutionState(db: Queryable, id: ExecutionName): Promise<StoredExecutionState | undefined> {
  const { rows } = await db.query<Row>({
    name: "find-execution-state",
    text: `${select} WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [id.project, id.domain, id.name],
  });
  return rows[0] && stored(rows[0]);
}

function stored(row: Row): StoredExecutionState {
  return {
    rowId: row.id,
    project: row.execution_project,
    domain: row.execution_domain,
    name: row.execution_name,
    cluster: row.cluster,
    revision: row.revision,
    state: {
      phase: workflowPhaseOf(row.phase),
      acceptedAt: row.accepted_ns,
      phaseSeq: row.phase_order,
      startedAt: row.started_ns ?? undefined,
      startedSeq: row.started_order,
      updatedAt: row.updated_ns,
      endedAt: row.ended_ns ?? undefined,
      result: undefined,
      resultSeq: row.result_order,
    },
  };
}

type Column = ColumnSpec<ExecutionStateWrite>;

const outputsOf = ({ result }: WorkflowState) => (result?.kind === "outputs" ? result : undefined);
const errorOf = ({ result }: WorkflowState) => (result?.kind === "error" ? result.error : undefined);
const abortOf = ({ result }: WorkflowState) => (result?.kind === "abort" ? result : undefined);

const columns: readonly Column[] = [
  { name: "id", type: "bigint", value: (row) => row.rowId, update: "key" },
  { name: "revision", type: "integer", value: (row) => row.revision, update: "set" },
  { name: "phase", type: "text", value: ({ state }) => workflowPhaseName(state.phase), update: "set" },
  { name: "phase_order", type: "bigint", value: ({ state }) => state.phaseSeq, update: "set" },
  { name: "started_ns", type: "bigint", value: ({ state }) => state.startedAt ?? null, update: "set" },
  { name: "started_order", type: "bigint", value: ({ state }) => state.startedSeq, update: "set" },
  { name: "updated_ns", type: "bigint", value: ({ state }) => state.updatedAt, update: "set" },
  { name: "ended_ns", type: "bigint", value: ({ state }) => state.endedAt ?? null, update: "set" },
  { name: "duration", type: "bigint", value: ({ state }) => elapsed(state), update: "set" },
  { name: "result", type: "text", value: ({ state }) => state.result?.kind ?? null, update: "keep" },
  { name: "result_order", type: "bigint", value: ({ state }) => state.resultSeq, update: "set" },
  { name: "output_uri", type: "text", value: ({ state }) => outputsOf(state)?.uri ?? null, update: "keep" },
  { name: "outputs", type: "bytea", value: ({ state }) => outputsOf(state)?.values ?? null, update: "keep" },
  { name: "error", type: "bytea", value: ({ state }) => errorOf(state)?.bytes ?? null, update: "keep" },
  { name: "error_kind", type: "text", value: ({ state }) => errorOf(state)?.kind ?? null, update: "keep" },
  { name: "error_code", type: "text", value: ({ state }) => errorOf(state)?.code ?? null, update: "keep" },
  { name: "abort_cause", type: "text", value: ({ state }) => abortOf(state)?.cause ?? null, update: "keep" },
  { name: "abort_principal", type: "text", value: ({ state }) => abortOf(state)?.principal ?? null, update: "keep" },
  // PostgreSQL parses `now` as its current time.
  { name: "settled_at", type: "timestamptz", value: ({ allTerminal }) => (allTerminal === true ? "now" : null), update: "keep" },
];

const write = update("executions", columns, "executions.id");

/**
 * Saves states; returns the ids of the written rows. The others were changed concurrently and must
 * be read again. A terminal state and its completion entry are written by one statement, hence in
 * one transaction.
 */
export async function saveExecutionStates(db: Queryable, writes: readonly ExecutionStateWrite[]): Promise<Set<bigint>> {
  const query = write(writes);
  const ending = writes.filter(({ becomesTerminal: ends }) => ends).map(({ rowId }) => rowId);
  const { rows } = await db.query<{ id: bigint }>(ending.length === 0 ? query : withCompletions(query, ending));
  return new Set(rows.map(({ id }) => id));
}

function withCompletions({ text, values = [] }: Query, ending: readonly bigint[]): Query {
  return {
    name: "update-executions-that-end",
    text: `WITH saved AS (${text}), ended AS (
        INSERT INTO execution_ends (execution_id) SELECT id FROM saved WHERE id = ANY($${values.length + 1}::bigint[]) ON CONFLICT DO NOTHING
      ) SELECT id FROM saved`,
    values: [...values, bigintArray(ending)],
  };
}

/** True when the change makes the execution terminal. */
export function becomesTerminal(before: WorkflowState, after: WorkflowState): boolean {
  return isTerminalWorkflowEvent(after.phase) && !isTerminalWorkflowEvent(before.phase);
}
