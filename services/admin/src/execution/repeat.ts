import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type ExecutionCreateRequest,
  ExecutionCreateRequestSchema,
  ExecutionMetadata_ExecutionMode,
  ExecutionMetadataSchema,
  type ExecutionRecoverRequest,
  type ExecutionRelaunchRequest,
  type ExecutionSpec,
  ExecutionSpecSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { type Caller, type CreateDeps, createExecution } from "./create.js";
import { checkExecutionId, executionNotFound } from "./identifier.js";
import type { ExecutionName } from "./state.js";

/** A new execution with the settings and the user's inputs of an old one. */
export async function relaunchExecution(deps: CreateDeps, request: ExecutionRelaunchRequest, caller: Caller): Promise<ExecutionName> {
  checkExecutionId(request.id);
  const old = await readOld(deps.db, request.id);
  const metadata = old.spec.metadata ?? create(ExecutionMetadataSchema);
  const spec: ExecutionSpec = {
    ...old.spec,
    overwriteCache: request.overwriteCache,
    metadata: { ...metadata, mode: ExecutionMetadata_ExecutionMode.RELAUNCH, referenceExecution: request.id },
  };
  return createExecution(deps, old.request(request.name, spec), { ...caller, sourceExecutionId: old.rowId });
}

/** Like a relaunch, but nodes that finished in the old execution are taken over. */
export async function recoverExecution(deps: CreateDeps, request: ExecutionRecoverRequest, caller: Caller): Promise<ExecutionName> {
  checkExecutionId(request.id);
  const old = await readOld(deps.db, request.id);
  const metadata = { ...(old.spec.metadata ?? create(ExecutionMetadataSchema)) };
  if (request.metadata !== undefined) {
    const parent = request.metadata.parentNodeExecution;
    if (parent === undefined) delete metadata.parentNodeExecution;
    else metadata.parentNodeExecution = parent;
  }
  const spec: ExecutionSpec = {
    ...old.spec,
    metadata: { ...metadata, mode: ExecutionMetadata_ExecutionMode.RECOVERED, referenceExecution: request.id },
  };
  return createExecution(deps, old.request(request.name, spec), { ...caller, sourceExecutionId: old.rowId });
}

interface Old {
  readonly rowId: bigint;
  readonly spec: ExecutionSpec;
  request(name: string, spec: ExecutionSpec): ExecutionCreateRequest;
}

async function readOld(db: Queryable, id: ExecutionName): Promise<Old> {
  const { rows } = await db.query<{ id: bigint; spec: Uint8Array; user_inputs: Uint8Array }>({
    name: "find-execution-to-repeat",
    text: `SELECT id, spec, user_inputs FROM executions
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
    values: [id.project, id.domain, id.name],
  });
  const [row] = rows;
  if (row === undefined) throw executionNotFound(id);
  const inputs = fromBinary(LiteralMapSchema, row.user_inputs);
  const { project, domain } = id;
  return {
    rowId: row.id,
    spec: fromBinary(ExecutionSpecSchema, row.spec),
    request: (name, spec) => create(ExecutionCreateRequestSchema, { project, domain, name, spec, inputs }),
  };
}
