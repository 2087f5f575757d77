import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type ExecutionCreateRequest,
  ExecutionCreateRequestSchema,
  type ExecutionMetadata,
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
import { checkExecutionId, type ExecutionName, executionNotFound } from "../model/identifier.js";
import { findExecutionRequest } from "../store/execution/find.js";

/**
 * Creates an execution with the settings and user inputs of an old one. The caller becomes its
 * principal; it does not become a child of the old one's parent node.
 */
export async function relaunchExecution(deps: CreateDeps, request: ExecutionRelaunchRequest, caller: Caller): Promise<ExecutionName> {
  checkExecutionId(request.id);
  const original = await loadOriginal(deps.db, request.id);
  const metadata = ofCaller(original.spec);
  const spec: ExecutionSpec = {
    ...original.spec,
    overwriteCache: request.overwriteCache,
    metadata: { ...metadata, mode: ExecutionMetadata_ExecutionMode.RELAUNCH, referenceExecution: request.id },
  };
  return createExecution(deps, original.request(request.name, spec), { ...caller, sourceExecutionId: original.rowId });
}

/**
 * Like a relaunch, but reuses the successful nodes of the old execution. Only the engine may send a
 * parent node, for a recovery that is a child.
 */
export async function recoverExecution(deps: CreateDeps, request: ExecutionRecoverRequest, caller: Caller): Promise<ExecutionName> {
  checkExecutionId(request.id);
  const original = await loadOriginal(deps.db, request.id);
  const parent = request.metadata?.parentNodeExecution;
  // The parent node need not be stored yet, as for any child of an engine (inherit.ts): a nesting
  // above 0 states this.
  const metadata = { ...ofCaller(original.spec), ...(parent && { parentNodeExecution: parent, nesting: 1 }) };
  const spec: ExecutionSpec = {
    ...original.spec,
    metadata: { ...metadata, mode: ExecutionMetadata_ExecutionMode.RECOVERED, referenceExecution: request.id },
  };
  return createExecution(deps, original.request(request.name, spec), { ...caller, sourceExecutionId: original.rowId });
}

/** Removes the metadata that only an engine may set: the parent node and the nesting. */
function ofCaller({ metadata }: ExecutionSpec): ExecutionMetadata {
  const { parentNodeExecution: _parent, ...kept } = metadata ?? create(ExecutionMetadataSchema);
  return { ...kept, nesting: 0 };
}

interface OriginalExecution {
  readonly rowId: bigint;
  readonly spec: ExecutionSpec;
  request(name: string, spec: ExecutionSpec): ExecutionCreateRequest;
}

async function loadOriginal(db: Queryable, id: ExecutionName): Promise<OriginalExecution> {
  const row = await findExecutionRequest(db, id);
  if (row === undefined) throw executionNotFound(id);
  const inputs = fromBinary(LiteralMapSchema, row.user_inputs);
  const { project, domain } = id;
  return {
    rowId: row.id,
    spec: fromBinary(ExecutionSpecSchema, row.spec),
    request: (name, spec) => create(ExecutionCreateRequestSchema, { project, domain, name, spec, inputs }),
  };
}
