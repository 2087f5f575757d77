import { bigintArray, type Queryable } from "@flyte-ts/postgres";
import { type ExecutionName, executionNotFound } from "../../model/identifier.js";
import type { Launcher } from "../../model/launch-settings.js";
import { dateOfNanos } from "../common-columns.js";
import { nameArrays } from "../name-arrays.js";

/** @throws RpcError NOT_FOUND. */
export async function findExecution(db: Queryable, { project, domain, name }: ExecutionName): Promise<ExecutionRow> {
  const { rows } = await db.query<ExecutionRow>({
    name: "find-execution",
    text: `SELECT ${executionColumns} FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [project, domain, name],
  });
  if (rows[0] === undefined) throw executionNotFound({ project, domain, name });
  return rows[0];
}

/** Returns the row id of an execution; undefined when it does not exist. */
export async function findExecutionId(db: Queryable, { project, domain, name }: ExecutionName): Promise<bigint | undefined> {
  const { rows } = await db.query<{ id: bigint }>({
    name: "find-execution-id",
    text: "SELECT id FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3",
    values: [project, domain, name],
  });
  return rows[0]?.id;
}

export interface ExecutionResultRow {
  phase: string;
  error: Uint8Array | null;
  outputs: Uint8Array | null;
  output_uri: string;
  result: string | null;
}

/** Reads the phase and the result of an execution; undefined when it does not exist. */
export async function findExecutionResult(db: Queryable, rowId: bigint): Promise<ExecutionResultRow | undefined> {
  const { rows } = await db.query<ExecutionResultRow>({
    name: "find-firing-source",
    text: "SELECT phase, error, outputs, output_uri, result FROM executions WHERE id = $1",
    values: [rowId],
  });
  return rows[0];
}

export interface ExecutionValuesRow {
  readonly inputs: Uint8Array;
  readonly outputs: Uint8Array | null;
  readonly output_uri: string;
  readonly result: string | null;
}

export async function findExecutionValues(
  db: Queryable,
  { project, domain, name }: ExecutionName,
): Promise<ExecutionValuesRow | undefined> {
  const { rows } = await db.query<ExecutionValuesRow>({
    name: "find-execution-data",
    text: `SELECT inputs, outputs, output_uri, result FROM executions
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [project, domain, name],
  });
  return rows[0];
}

export interface ParentNodeRow {
  has_node: boolean;
  execution: bigint;
  principal: string;
  launcher: Launcher | null;
  cluster: string;
  spec: Uint8Array;
}

/**
 * Reads the parent execution of a child, and whether its node is stored; undefined when there is no
 * such execution.
 */
export async function findParentNode(
  db: Queryable,
  { project, domain, name }: ExecutionName,
  nodeId: string,
): Promise<ParentNodeRow | undefined> {
  const { rows } = await db.query<ParentNodeRow>({
    name: "find-parent-node",
    text: `SELECT n.node_id IS NOT NULL AS has_node, e.id AS execution, e.principal, e.launch -> 'launcher' AS launcher, e.cluster, e.spec
      FROM executions e LEFT JOIN node_executions n ON n.execution_id = e.id AND n.node_id = $4
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3`,
    values: [project, domain, name, nodeId],
  });
  return rows[0];
}

/** Reads who launched an execution; undefined when it does not exist. */
export async function findLauncher(
  db: Queryable,
  { project, domain, name }: ExecutionName,
): Promise<{ readonly principal: string; readonly launcher: Launcher | null } | undefined> {
  const { rows } = await db.query<{ principal: string; launcher: Launcher | null }>({
    name: "find-launcher",
    text: `SELECT principal, launch -> 'launcher' AS launcher FROM executions
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [project, domain, name],
  });
  return rows[0];
}

/**
 * Reads the spec and the inputs that a caller has sent for an execution; undefined when it does not
 * exist.
 */
export async function findExecutionRequest(
  db: Queryable,
  { project, domain, name }: ExecutionName,
): Promise<{ readonly id: bigint; readonly spec: Uint8Array; readonly user_inputs: Uint8Array } | undefined> {
  const { rows } = await db.query<{ id: bigint; spec: Uint8Array; user_inputs: Uint8Array }>({
    name: "find-execution-to-repeat",
    text: `SELECT id, spec, user_inputs FROM executions
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [project, domain, name],
  });
  return rows[0];
}

export interface FoundExecution extends ExecutionName {
  readonly id: bigint;
  readonly cluster: string;
  /** Second of its acceptance, as in its resource. */
  readonly acceptedSecond: bigint;
}

/** Finds executions by name. */
export async function findExecutionIds(db: Queryable, names: readonly ExecutionName[]): Promise<readonly FoundExecution[]> {
  const { rows } = await db.query<FoundExecution>({
    name: "find-execution-ids",
    text: `SELECT e.id, e.cluster, e.execution_project AS project, e.execution_domain AS domain, e.execution_name AS name,
        e.accepted_ns / 1000000000 AS "acceptedSecond"
      FROM unnest($1::text[], $2::text[], $3::text[]) AS given (project, domain, name)
      JOIN executions e ON e.execution_project = given.project AND e.execution_domain = given.domain AND e.execution_name = given.name`,
    values: nameArrays(names),
  });
  return rows;
}

/** Filters row ids to those without a row. */
export async function findMissingIds(db: Queryable, ids: readonly bigint[]): Promise<readonly bigint[]> {
  const { rows } = await db.query<{ id: bigint }>({
    name: "find-missing-executions",
    text: "SELECT given.id FROM unnest($1::bigint[]) AS given (id) WHERE NOT EXISTS (SELECT FROM executions e WHERE e.id = given.id)",
    values: [bigintArray(ids)],
  });
  return rows.map(({ id }) => id);
}

export async function loadPlacements(db: Queryable, executionIds: readonly bigint[]): Promise<readonly PlacedExecution[]> {
  const { rows } = await db.query<{
    id: bigint;
    execution_project: string;
    execution_domain: string;
    execution_name: string;
    cluster: string;
    accepted_ns: bigint;
  }>({
    name: "places-of-executions",
    text: "SELECT id, execution_project, execution_domain, execution_name, cluster, accepted_ns FROM executions WHERE id = ANY($1::bigint[])",
    values: [bigintArray(executionIds)],
  });
  return rows.map((row) => ({
    rowId: row.id,
    project: row.execution_project,
    domain: row.execution_domain,
    name: row.execution_name,
    cluster: row.cluster,
    acceptedAt: dateOfNanos(row.accepted_ns),
  }));
}

export async function findParents(
  db: Queryable,
  children: readonly bigint[],
): Promise<readonly { readonly parent: ExecutionName; readonly nodeId: string }[]> {
  const { rows } = await db.query<{ project: string; domain: string; name: string; node_id: string }>({
    name: "find-parents-of-ended",
    text: `SELECT p.execution_project AS project, p.execution_domain AS domain, p.execution_name AS name, child.parent_node_id AS node_id
      FROM executions child JOIN executions p ON p.id = child.parent_execution_id WHERE child.id = ANY($1::bigint[])`,
    values: [children],
  });
  return rows.map(({ node_id: nodeId, ...parent }) => ({ parent, nodeId }));
}

/** Columns from which the API's execution is built. */
export interface ExecutionRow {
  id: bigint;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  spec: Uint8Array;
  closure: Uint8Array;
  state: number;
  state_changed_ns: bigint;
  state_changed_by: string;
  phase: string;
  started_ns: bigint | null;
  accepted_ns: bigint;
  updated_ns: bigint;
  ended_ns: bigint | null;
  duration: bigint;
  result: string | null;
  output_uri: string;
  error: Uint8Array | null;
  abort_cause: string;
  abort_principal: string;
  notice: string;
  notice_ns: bigint | null;
}

export const executionColumns = [
  "id",
  "execution_project",
  "execution_domain",
  "execution_name",
  "spec",
  "closure",
  "state",
  "state_changed_ns",
  "state_changed_by",
  "phase",
  "started_ns",
  "accepted_ns",
  "updated_ns",
  "ended_ns",
  "duration",
  "result",
  "output_uri",
  "error",
  "abort_cause",
  "abort_principal",
  "notice",
  "notice_ns",
]
  .map((name) => `executions.${name}`)
  .join(", ");

export interface PlacedExecution extends ExecutionName {
  readonly rowId: bigint;
  readonly cluster: string;
  readonly acceptedAt: Date;
}
