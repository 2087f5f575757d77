import type { BlobStore } from "@flyte-ts/blobstore";
import { endOfResource, nanosOfDate, type ResourceNode, resourceNodes, statusError, type WorkflowUpdate } from "@flyte-ts/execution-state";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionErrorJson, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { nodeStatusesOf } from "../../events/index.js";

/**
 * Terminal state of an execution as its resource has it: complete, or with the part that is
 * missing.
 */
export type ResourceEnd =
  | { readonly kind: "complete"; readonly update: WorkflowUpdate; readonly nodes: ReadonlyMap<string, ResourceNode> }
  | { readonly kind: "incomplete"; readonly missing: string };

/**
 * Finds the end of an execution in the status of its resource; if the status has the URI of
 * outputs, checks that the blob exists.
 *
 * @throws BlobError or WorkflowFormatError when the blob store is unavailable, or slices of the
 *   status cannot be
 * decoded.
 */
export async function findResourceEnd(
  blobs: Pick<BlobStore, "get" | "head">,
  status: WorkflowStatus,
  { now }: { readonly now: Date },
): Promise<ResourceEnd> {
  const statuses = await nodeStatusesOf(blobs, status);
  const end = endOfResource(status, statuses, nanosOfDate(now));
  if (end.kind === "complete" || (end.kind === "inBlob" && (await blobs.head(end.uri)) !== undefined))
    return { kind: "complete", update: end.update, nodes: resourceNodes(statuses, status) };
  return { kind: "incomplete", missing: `outputs: they are neither in the resource nor at ${status.outputRef || "any address"}` };
}

/** Failure of an execution with a cause that its resource does not contain. */
export function failedUpdate(now: Date, error: ExecutionErrorJson): WorkflowUpdate {
  return { phase: WorkflowExecution_Phase.FAILED, occurredAt: nanosOfDate(now), error: statusError(error) };
}
