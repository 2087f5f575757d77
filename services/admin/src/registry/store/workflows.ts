import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type TypedInterface, TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { type ListEntity, type ListPlan, selectPage, versionedColumns } from "../../platform/index.js";
import type { CompiledWorkflow } from "../workflow/compiler/compile-to-bytes.js";
import type { Expansion } from "@flyte-ts/domain/graph";
import { closureExpansion } from "@flyte-ts/compiler";

export interface StoredWorkflow {
  /** Row id; launch plans and executions refer to it. */
  readonly rowId: bigint;
  readonly closure: CompiledWorkflowClosure;
  readonly shortDescription: string;
  readonly digest: Uint8Array;
  readonly createdAt: Date;
}

/** Data of a workflow that a launch plan needs; much smaller than the closure. */
export interface WorkflowInterface {
  readonly rowId: bigint;
  readonly interface: TypedInterface;
}

const key = "project = $1 AND domain = $2 AND name = $3 AND version = $4";
const values = (id: Identifier) => [id.project, id.domain, id.name, id.version];

interface Row {
  id: bigint;
  closure: Uint8Array;
  short_description: string;
  digest: Uint8Array;
  created_at: Date;
}

/** Finds one version of a workflow; undefined when it is not registered. */
export async function findWorkflow(db: Queryable, id: Identifier): Promise<StoredWorkflow | undefined> {
  const { rows } = await db.query<Row>({
    name: "find-workflow",
    text: `SELECT id, closure, short_description, digest, created_at FROM workflows WHERE ${key}`,
    values: values(id),
  });
  const row = rows[0];
  if (row === undefined) return undefined;
  return {
    rowId: row.id,
    closure: fromBinary(CompiledWorkflowClosureSchema, row.closure),
    shortDescription: row.short_description,
    digest: row.digest,
    createdAt: row.created_at,
  };
}

/** Finds the compiled closure of one version of a workflow; undefined when it is not registered. */
export async function findWorkflowClosure(db: Queryable, id: Identifier): Promise<CompiledWorkflowClosure | undefined> {
  return (await findWorkflow(db, id))?.closure;
}

/** {@link findWorkflowClosure}, encoded as stored. */
export async function findEncodedClosure(db: Queryable, id: Identifier): Promise<Uint8Array | undefined> {
  const { rows } = await db.query<{ closure: Uint8Array }>({
    name: "find-workflow-closure",
    text: `SELECT closure FROM workflows WHERE ${key}`,
    values: values(id),
  });
  return rows[0]?.closure;
}

/** Finds the row id of one version of a workflow; undefined when it is not registered. */
export async function findWorkflowRow(db: Queryable, id: Identifier): Promise<bigint | undefined> {
  return (await findWorkflowDigest(db, id))?.id;
}

/** Reads the compiled closure of a row, encoded as stored. */
export async function findClosureOfRow(db: Queryable, rowId: bigint): Promise<Uint8Array> {
  const { rows } = await db.query<{ closure: Uint8Array }>({
    name: "find-closure-of-row",
    text: "SELECT closure FROM workflows WHERE id = $1",
    values: [rowId],
  });
  if (rows[0] === undefined) throw new Error(`workflow ${rowId} does not exist`);
  return rows[0].closure;
}

/**
 * Finds the row id and interface of one version of a workflow; undefined when it is not registered.
 */
export async function findWorkflowInterface(db: Queryable, id: Identifier): Promise<WorkflowInterface | undefined> {
  const { rows } = await db.query<{ id: bigint; typed_interface: Uint8Array }>({
    name: "find-workflow-head",
    text: `SELECT id, typed_interface FROM workflows WHERE ${key}`,
    values: values(id),
  });
  const row = rows[0];
  return row && { rowId: row.id, interface: fromBinary(TypedInterfaceSchema, row.typed_interface) };
}

export interface ListedWorkflow {
  project: string;
  domain: string;
  name: string;
  version: string;
  typed_interface: Uint8Array;
  short_description: string;
  created_at: Date;
}

/** Reads no closures: those of a page could be large. */
export async function listWorkflows(db: Queryable, plan: ListPlan): Promise<readonly ListedWorkflow[]> {
  const columns = "project, domain, name, version, typed_interface, short_description, created_at";
  return (await db.query<ListedWorkflow>(selectPage(plan, columns))).rows;
}

export async function findWorkflowDigest(
  db: Queryable,
  id: Identifier,
): Promise<{ readonly id: bigint; readonly digest: Uint8Array } | undefined> {
  const { rows } = await db.query<{ id: bigint; digest: Uint8Array }>({
    name: "find-workflow-digest",
    text: "SELECT id, digest FROM workflows WHERE project = $1 AND domain = $2 AND name = $3 AND version = $4",
    values: [id.project, id.domain, id.name, id.version],
  });
  return rows[0];
}

export interface WorkflowInsert {
  readonly id: Identifier;
  readonly shortDescription: string;
  readonly compiled: CompiledWorkflow;
  readonly now: Date;
}

/** Stores a version of a workflow and returns its row id; undefined when it exists. */
export async function insertWorkflow(tx: Queryable, { id, shortDescription, compiled, now }: WorkflowInsert): Promise<bigint | undefined> {
  const { rows } = await tx.query<{ id: bigint }>({
    name: "create-workflow",
    text: `INSERT INTO workflows (project, domain, name, version, short_description, typed_interface, closure, digest,
        created_at, updated_at, expanded_instances, expanded_depth)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11) ON CONFLICT DO NOTHING RETURNING id`,
    values: [
      id.project,
      id.domain,
      id.name,
      id.version,
      shortDescription,
      compiled.typedInterface,
      compiled.bytes,
      compiled.digest,
      now,
      compiled.expansion.instances,
      compiled.expansion.depth,
    ],
  });
  return rows[0]?.id;
}

/**
 * Reads the expanded size of a stored workflow; computes it for rows of earlier builds. Undefined
 * when the row does not exist.
 */
export async function findExpansion(db: Queryable, workflowRowId: bigint): Promise<Expansion | undefined> {
  const { rows } = await db.query<{ expanded_instances: number | null; expanded_depth: number | null }>({
    name: "find-workflow-expansion",
    text: "SELECT expanded_instances, expanded_depth FROM workflows WHERE id = $1",
    values: [workflowRowId],
  });
  const row = rows[0];
  if (row === undefined) return undefined;
  const { expanded_instances: instances, expanded_depth: depth } = row;
  return instances === null || depth === null ? countStored(db, workflowRowId) : { instances, depth };
}

async function countStored(db: Queryable, workflowRowId: bigint): Promise<Expansion | undefined> {
  const { rows } = await db.query<{ closure: Uint8Array }>({
    name: "find-closure-to-count",
    text: "SELECT closure FROM workflows WHERE id = $1",
    values: [workflowRowId],
  });
  if (rows[0] === undefined) return undefined;
  const expansion = closureExpansion(fromBinary(CompiledWorkflowClosureSchema, rows[0].closure));
  await db.query({
    name: "note-workflow-expansion",
    text: "UPDATE workflows SET expanded_instances = $2, expanded_depth = $3 WHERE id = $1",
    values: [workflowRowId, expansion.instances, expansion.depth],
  });
  return expansion;
}

/** Filters and sort keys of ListWorkflows. */
export const workflowEntity: ListEntity = {
  prefix: "workflow",
  table: "workflows",
  key: "id",
  columns: {
    ...versionedColumns,
    // A version is immutable, so one index serves both times.
    updated_at: { type: "timestamp", sql: "workflows.created_at", order: ["created_at", "id"] },
    typed_interface: { type: "bytes" },
    // The row contains the closure; Flyte's column for its location remains available to filters.
    remote_closure_identifier: { type: "text", sql: "''::text", order: [] },
    digest: { type: "bytes" },
    short_description: { type: "text" },
  },
  related: {},
};
