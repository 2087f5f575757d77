import { isUniqueViolation, type Queryable } from "@flyte-ts/postgres";
import type { ErrorFact } from "../event/facts.js";
import { alreadyExists } from "../invalid.js";

/** A row to be. Messages are encoded. */
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
  readonly sourceExecutionId: bigint | undefined;
  /** The node that launched it, in the execution of that number. */
  readonly parent: { readonly executionId: bigint; readonly nodeId: string } | undefined;
  readonly spec: Uint8Array;
  readonly inputs: Uint8Array;
  readonly userInputs: Uint8Array;
  readonly inputsUri: string;
  readonly userInputsUri: string;
  readonly closure: Uint8Array;
  readonly launchSettings: string;
  readonly acceptedAt: bigint;
  /** Why it cannot run at all; it is then stored as failed and nothing is sent to a data plane. */
  readonly failure: ErrorFact | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
}

/** Channel on which it is told that the outbox has new entries. */
export const OUTBOX_CHANNEL = "flyte_execution_outbox";

/**
 * Stores an execution, its labels and tags, and what is owed to the data plane. Call it in
 * a transaction.
 *
 * @throws RpcError ALREADY_EXISTS when the name is taken or a tag comes twice.
 */
export async function insertExecution(tx: Queryable, execution: NewExecution): Promise<bigint> {
  const { failure } = execution;
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
  ];
  const { rows } = await tx.query<{ id: bigint }>({
    name: "insert-execution",
    text: `INSERT INTO executions (execution_project, execution_domain, execution_name, launch_plan_id, launch_plan_name, workflow_id,
        task_id, launch_entity, mode, principal, cluster, source_execution_id, parent_execution_id, parent_node_id, spec, inputs,
        user_inputs, inputs_uri, user_inputs_uri, closure, launch, accepted_ns, updated_ns, state_changed_ns, state_changed_by, phase, result, error,
        error_kind, error_code, workflow_name)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $22, $22, $10, $23,
        $24, $25, $26, $27, $28)
      ON CONFLICT DO NOTHING RETURNING id`,
    values,
  });
  const id = rows[0]?.id;
  if (id === undefined) {
    throw alreadyExists(`execution ${execution.project}/${execution.domain}/${execution.name}: value with matching name already exists`);
  }
  await insertTags(tx, id, execution);
  if (failure === undefined) await oweLaunch(tx, id);
  return id;
}

async function insertTags(tx: Queryable, id: bigint, { labels, tags }: NewExecution): Promise<void> {
  const entries = [...Object.entries(labels), ...tags.map((tag) => [tag, ""] as const)];
  if (entries.length === 0) return;
  try {
    await tx.query({
      name: "insert-execution-tags",
      text: "INSERT INTO execution_tags (execution_id, key, value) SELECT $1, * FROM unnest($2::text[], $3::text[])",
      values: [id, entries.map(([key]) => key), entries.map(([, value]) => value)],
    });
  } catch (error) {
    if (isUniqueViolation(error) === undefined) throw error;
    throw alreadyExists("tags: value with matching already exists (duplicate key value violates unique constraint execution_tags_pkey)");
  }
}

async function oweLaunch(tx: Queryable, id: bigint): Promise<void> {
  await tx.query({
    name: "owe-launch",
    text: "WITH entry AS (INSERT INTO execution_outbox (execution_id, action) VALUES ($1, 'launch')) SELECT pg_notify($2, '')",
    values: [id, OUTBOX_CHANNEL],
  });
}
