import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { readStored } from "@flyte-ts/input-limits";
import type { NodeFact } from "@flyte-ts/execution-state";
import type { NodeId } from "../execution/identifier.js";

/** Closures up to this size, bytes, stand in the node's row; larger ones in the blob store. */
const MAX_ROW_BYTES = 256 * 1024;

/** Puts what a dynamic node made out of the way when it is large: then the fact names its place. */
export async function offloadDynamicWorkflow(
  { blobs, container, metadataPrefix }: { readonly blobs: BlobStore; readonly container: string; readonly metadataPrefix: string },
  { executionId: { project, domain, name }, nodeId }: NodeId,
  fact: NodeFact,
): Promise<NodeFact> {
  const closure = fact.dynamicWorkflow;
  if (closure === undefined || closure.length <= MAX_ROW_BYTES) return fact;
  const { dynamicWorkflow: _, ...rest } = fact;
  const uri = [container, metadataPrefix, project, domain, name, nodeId, "dynamic_workflow"].join("/");
  await blobs.put(uri, closure);
  return { ...rest, dynamicWorkflowUri: uri };
}

/**
 * What a dynamic node made, compiled; undefined when it made nothing.
 *
 * @throws BlobError or StoredMessageRefused when it stands in the blob store and cannot be read there.
 */
export async function readDynamicWorkflow(
  blobs: BlobStore,
  row: { readonly dynamic_workflow: Uint8Array | null; readonly dynamic_workflow_uri: string },
): Promise<CompiledWorkflowClosure | undefined> {
  const { dynamic_workflow: bytes, dynamic_workflow_uri: uri } = row;
  if (bytes !== null) return fromBinary(CompiledWorkflowClosureSchema, bytes);
  return uri === "" ? undefined : readStored(blobs, { uri, schema: CompiledWorkflowClosureSchema });
}
