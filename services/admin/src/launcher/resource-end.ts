import type { BlobStore } from "@flyte-ts/blobstore";
import { endOfResource, nanosOfDate, type ResourceNode, resourceNodes, statusError, type WorkflowFact } from "@flyte-ts/execution-state";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionErrorJson, WorkflowStatus } from "@flyte-ts/workflow-crd";
import { nodeStatusesOf } from "../settle/told.js";

/** The whole end of an execution, or the part of it that cannot be had. */
export type FoundEnd =
  | { readonly kind: "complete"; readonly fact: WorkflowFact; readonly nodes: ReadonlyMap<string, ResourceNode> }
  | { readonly kind: "incomplete"; readonly missing: string };

/**
 * Finds the end of an execution by the status of its resource and, where the status names an address of outputs, by asking the blob
 * store whether they stand there.
 *
 * @throws BlobError or WorkflowFormatError while the blob store does not answer, or slices of the status cannot be read.
 */
export async function findEnd(
  blobs: Pick<BlobStore, "get" | "head">,
  status: WorkflowStatus,
  { now }: { readonly now: Date },
): Promise<FoundEnd> {
  const statuses = await nodeStatusesOf(blobs, status);
  const end = endOfResource(status, statuses, nanosOfDate(now));
  if (end.kind === "complete" || (end.kind === "inBlob" && (await blobs.head(end.uri)) !== undefined))
    return { kind: "complete", fact: end.fact, nodes: resourceNodes(statuses, status) };
  return { kind: "incomplete", missing: `outputs: they stand neither in the resource nor at ${status.outputRef || "any address"}` };
}

/** The end of an execution that has failed for a reason that its resource does not tell. */
export function failedFact(now: Date, error: ExecutionErrorJson): WorkflowFact {
  return { phase: WorkflowExecution_Phase.FAILED, occurredAt: nanosOfDate(now), error: statusError(error) };
}
