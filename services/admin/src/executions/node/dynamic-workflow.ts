import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { readStored } from "@flyte-ts/input-limits";
import type { NodeUpdate } from "@flyte-ts/execution-state";
import type { NodeId } from "../model/identifier.js";

/** Maximum size, bytes, of a closure in the node's row; larger ones are stored as blobs. */
const MAX_ROW_BYTES = 256 * 1024;

/** Uploads a large compiled workflow of a dynamic node; the returned fact has its URI instead. */
export async function offloadDynamicWorkflow(
  { blobs, container, metadataPrefix }: { readonly blobs: BlobStore; readonly container: string; readonly metadataPrefix: string },
  { executionId: { project, domain, name }, nodeId }: NodeId,
  update: NodeUpdate,
): Promise<NodeUpdate> {
  const closure = update.dynamicWorkflow;
  if (closure === undefined || closure.length <= MAX_ROW_BYTES) return update;
  const { dynamicWorkflow: _, ...rest } = update;
  const uri = [container, metadataPrefix, project, domain, name, nodeId, "dynamic_workflow"].join("/");
  await blobs.put(uri, closure);
  return { ...rest, dynamicWorkflowUri: uri };
}

/**
 * Reads the compiled workflow of a dynamic node; undefined without one.
 *
 * @throws BlobError or StoredMessageError when its blob cannot be read.
 */
export async function readDynamicWorkflow(
  blobs: BlobStore,
  row: { readonly dynamic_workflow: Uint8Array | null; readonly dynamic_workflow_uri: string },
): Promise<CompiledWorkflowClosure | undefined> {
  const { dynamic_workflow: bytes, dynamic_workflow_uri: uri } = row;
  if (bytes !== null) return fromBinary(CompiledWorkflowClosureSchema, bytes);
  return uri === "" ? undefined : readStored(blobs, { uri, schema: CompiledWorkflowClosureSchema });
}
