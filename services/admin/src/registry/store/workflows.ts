import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type TypedInterface, TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Queryable } from "@flyte-ts/postgres";

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

/** Finds the row id and interface of one version of a workflow; undefined when it is not registered. */
export async function findWorkflowInterface(db: Queryable, id: Identifier): Promise<WorkflowInterface | undefined> {
  const { rows } = await db.query<{ id: bigint; typed_interface: Uint8Array }>({
    name: "find-workflow-head",
    text: `SELECT id, typed_interface FROM workflows WHERE ${key}`,
    values: values(id),
  });
  const row = rows[0];
  return row && { rowId: row.id, interface: fromBinary(TypedInterfaceSchema, row.typed_interface) };
}
