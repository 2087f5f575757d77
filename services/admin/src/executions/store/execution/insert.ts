import { isUniqueViolation, type Queryable } from "@flyte-ts/postgres";
import type { ErrorColumns } from "@flyte-ts/execution-state";
import { alreadyExists } from "../../../platform/index.js";

/** A row to insert. Messages are encoded. */
export interface NewExecution {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly launchPlanId: bigint | undefined;
  readonly launchPlanName: string;
  readonly workflowId: bigint;
  readonly workflowName: string;
  readonly taskId: bigint | undefined;
  readonly launchEntity: "launch_plan" | "task";
  readonly mode: number;
  readonly principal: string;
  readonly cluster: string;
  /** The cluster may still change until the launch. */
  readonly reassignable: boolean;
  readonly sourceExecutionId: bigint | undefined;
  /** Parent node, with the row id of its execution. */
  readonly parent: { readonly executionId: bigint; readonly nodeId: string } | undefined;
  readonly spec: Uint8Array;
  readonly inputs: Uint8Array;
  readonly userInputs: Uint8Array;
  readonly inputsUri: string;
  readonly userInputsUri: string;
  readonly closure: Uint8Array;
  readonly launchSettings: string;
  readonly acceptedAt: bigint;
  /** Imported from elsewhere: no outbox entry, no notifications and no triggers. */
  readonly imported?: boolean;
  /** Admission error; the execution is then stored as failed, without an outbox entry. */
  readonly failure: ErrorColumns | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
}

/** NOTIFY channel for new outbox entries. */
export const OUTBOX_CHANNEL = "flyte_execution_outbox";

/**
 * Inserts an execution, its labels and tags, and its outbox entry with one statement, which is a
 * transaction by itself.
 *
 * @throws RpcError ALREADY_EXISTS when the name exists or a tag is repeated.
 */
export async function insertExecution(tx: Queryable, execution: NewExecution): Promise<bigint> {
  return (await insertClaimed(tx, execution, 0)).rowId;
}

export interface Inserted {
  readonly rowId: bigint;
  /** Id of the outbox entry; undefined without one. */
  readonly entryId: bigint | undefined;
}

/**
 * {@link insertExecution} for a caller that also launches the execution: inserts the outbox entry
 * as claimed, without a notification.
 *
 * @param leaseMs Lease duration; 0: the entry is not claimed.
 */
export async function insertClaimed(tx: Queryable, execution: NewExecution, leaseMs: number): Promise<Inserted> {
  const { failure } = execution;
  const entries = [...Object.entries(execution.labels), ...execution.tags.map((tag) => [tag, ""] as const)];
  const values = [
    execution.project,
    execution.domain,
    execution.name,
    execution.launchPlanId ?? null,
    execution.launchPlanName,
    execution.workflowId,
    execution.taskId ?? null,
    execution.launchEntity,
    execution.mode,
    execution.principal,
    execution.cluster,
    execution.sourceExecutionId ?? null,
    execution.parent?.executionId ?? null,
    execution.parent?.nodeId ?? null,
    execution.spec,
    execution.inputs,
    execution.userInputs,
    execution.inputsUri,
    execution.userInputsUri,
    execution.closure,
    execution.launchSettings,
    execution.acceptedAt,
    failure === undefined ? "UNDEFINED" : "FAILED",
    failure === undefined ? null : "error",
    failure?.bytes ?? null,
    failure?.kind ?? null,
    failure?.code ?? null,
    execution.workflowName,
    entries.map(([key]) => key),
    entries.map(([, value]) => value),
    failure === undefined && execution.imported !== true,
    OUTBOX_CHANNEL,
    execution.reassignable,
    execution.imported === true,
    leaseMs,
  ];
  const { rows } = await insert(tx, values);
  const [row] = rows;
  if (row === undefined) {
    throw alreadyExists(`execution ${execution.project}/${execution.domain}/${execution.name}: value with matching name already exists`);
  }
  return { rowId: row.id, entryId: row.entry_id ?? undefined };
}

async function insert(tx: Queryable, values: readonly unknown[]) {
  try {
    return await tx.query<{ id: bigint; entry_id: bigint | null }>({
      name: "insert-execution",
      text: `WITH made AS (
        INSERT INTO executions (execution_project, execution_domain, execution_name, launch_plan_id, launch_plan_name, workflow_id,
          task_id, launch_entity, mode, principal, cluster, source_execution_id, parent_execution_id, parent_node_id, spec, inputs,
          user_inputs, inputs_uri, user_inputs_uri, closure, launch, accepted_ns, updated_ns, state_changed_ns, state_changed_by, phase,
          result, error, error_kind, error_code, workflow_name)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $22, $22, $10, $23,
          $24, $25, $26, $27, $28)
        ON CONFLICT DO NOTHING RETURNING id
      ), tagged AS (
        INSERT INTO execution_tags (execution_id, key, value)
        SELECT made.id, tag.key, tag.value FROM made, unnest($29::text[], $30::text[]) AS tag(key, value)
      ), owed AS (
        INSERT INTO execution_outbox (execution_id, action, movable, available_at, attempts)
        SELECT id, 'launch', $33::boolean, now() + $35::int * interval '1 millisecond', ($35::int > 0)::int FROM made WHERE $31::boolean
        RETURNING id
      ), ended AS (
        INSERT INTO execution_ends (execution_id) SELECT id FROM made WHERE NOT $31::boolean AND NOT $34::boolean
      )
      SELECT id, (SELECT id FROM owed) AS entry_id, (SELECT pg_notify($32, '') WHERE $31::boolean AND $35::int = 0) FROM made`,
      values,
    });
  } catch (error) {
    if (isUniqueViolation(error)?.constraint !== "execution_tags_pkey") throw error;
    throw alreadyExists("tags: value with matching already exists (duplicate key value violates unique constraint execution_tags_pkey)");
  }
}
