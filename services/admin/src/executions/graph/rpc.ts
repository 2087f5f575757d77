import { BlobError, BlobTooLargeError } from "@flyte-ts/blobstore";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { NodeExecutionIdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { create } from "@bufbuild/protobuf";
import { GraphService } from "@flyte-ts/idl/flytets/admin/v1/graph_pb";
import { checkStored, MAX_STORED_BYTES, StoredMessageError } from "@flyte-ts/input-limits";
import { Code, implement, RpcError, type ServedService, type ServiceImplementation } from "@flyte-ts/rpc";
import { checkReadIdentifier, missingEntity, notFound } from "../../platform/index.js";
import { findClosureOfRow, findWorkflowRow } from "../../registry/index.js";
import type { ExecutionsDeps } from "../deps.js";
import { checkExecutionId, checkNodeId, type NodeId } from "../model/identifier.js";
import { type CreatedWorkflow, findCreatedClosure, findCreatedWorkflow, findWorkflowOfExecution } from "../store/graph-closures.js";
import { graphTags } from "./entity-tag.js";
import { GraphSource } from "./graph-source.js";

type Deps = Pick<ExecutionsDeps, "db" | "blobs">;

/**
 * Service of the graphs of workflows, executions and dynamic nodes.
 *
 * @param program version of this program, which may write the same graph differently
 */
export function graphService(deps: Deps, program: string): ServedService {
  return { ...implement(GraphService, graphRpcs(deps)), entityTag: graphTags(program) };
}

function graphRpcs(deps: Deps): ServiceImplementation<typeof GraphService> {
  const { db } = deps;
  const source = new GraphSource();
  const graphOfWorkflow = (rowId: bigint) => source.graphOf(`workflow ${rowId}`, () => findClosureOfRow(db, rowId));
  return {
    async getWorkflowGraph({ id }) {
      checkReadIdentifier(id, ResourceType.WORKFLOW);
      const rowId = await findWorkflowRow(db, id);
      if (rowId === undefined) throw missingEntity("WORKFLOW", id);
      return graphOfWorkflow(rowId);
    },

    async getExecutionGraph({ id, nodeId }) {
      checkExecutionId(id);
      if (nodeId === "") return graphOfWorkflow(await findWorkflowOfExecution(db, id));
      const node = create(NodeExecutionIdentifierSchema, { executionId: id, nodeId });
      checkNodeId(node);
      return graphOfNode({ ...deps, source }, node);
    },
  };
}

async function graphOfNode({ db, blobs, source }: Deps & { readonly source: GraphSource }, node: NodeId) {
  const created = await findCreatedWorkflow(db, node);
  if (created.stored_bytes === 0 && created.dynamic_workflow_uri === "") throw notFound("node does not contain dynamic workflow");
  return source.graphOf(`node ${created.id} ${created.updated_ns}`, async () => {
    if (created.stored_bytes === 0) return readBlob(blobs, created);
    const closure = await findCreatedClosure(db, created.id);
    if (closure === undefined) throw notFound("node does not contain dynamic workflow");
    return closure;
  });
}

async function readBlob(blobs: Deps["blobs"], { dynamic_workflow_uri: uri }: CreatedWorkflow): Promise<Uint8Array> {
  const failed = (code: typeof Code.OUT_OF_RANGE | typeof Code.UNAVAILABLE, reason: string, cause: unknown) =>
    new RpcError(code, `the workflow of this node at ${uri} cannot be read${reason}`, { cause });
  try {
    const closure = await blobs.get(uri, { maxBytes: MAX_STORED_BYTES });
    if (closure === undefined) throw notFound(`the workflow of this node at ${uri} does not exist`);
    checkStored(CompiledWorkflowClosureSchema, closure);
    return closure;
  } catch (cause) {
    if (cause instanceof StoredMessageError || cause instanceof BlobTooLargeError)
      throw failed(Code.OUT_OF_RANGE, `: ${cause.message}`, cause);
    if (cause instanceof BlobError) throw failed(Code.UNAVAILABLE, " now", cause);
    throw cause;
  }
}
