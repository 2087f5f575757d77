import { create } from "@bufbuild/protobuf";
import { END_NODE } from "@flyte-ts/domain/graph";
import { workflowEventPhase, WorkflowPhase } from "@flyte-ts/domain/phase";
import { ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionErrorJson, NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { errorColumns } from "../event/error-columns.js";
import type { ErrorColumns, WorkflowUpdate } from "../event/updates.js";
import { clampNanos } from "../event/time.js";

/**
 * The end of an execution derived from its resource.
 * - `complete`: the status holds all of it.
 * - `inBlob`: it is complete if a blob exists at the URI of its outputs; a URI alone proves
 *   nothing.
 * - `incomplete`: the status does not hold the outputs and has no URI.
 */
export type ResourceEnd =
  | { readonly kind: "complete"; readonly update: WorkflowUpdate }
  | { readonly kind: "inBlob"; readonly uri: string; readonly update: WorkflowUpdate }
  | { readonly kind: "incomplete" };

/**
 * Derives the end of an execution from a terminal status: phase, outputs or error, times. Outputs
 * without a blob are in the status of the end node until admin has recorded the end.
 *
 * @param nodes the statuses of the top-level nodes, from slices if there are any.
 * @param now nanoseconds since the epoch; the end where the status has none.
 */
export function endOfResource(
  status: Pick<WorkflowStatus, "phase" | "startedAt" | "stoppedAt" | "outputRef" | "error">,
  nodes: Readonly<Record<string, NodeStatus>>,
  now: bigint,
): ResourceEnd {
  const { phase, outputRef, error } = status;
  const times = {
    phase: workflowEventPhase(phase),
    occurredAt: statusTime(status.stoppedAt) ?? now,
    startedAt: statusTime(status.startedAt),
  };
  if (phase === WorkflowPhase.Failed) return { kind: "complete", update: { ...times, error: statusError(error ?? UNKNOWN_ERROR) } };
  if (phase !== WorkflowPhase.Success) return { kind: "complete", update: times };
  const inline = nodes[END_NODE]?.outputs;
  if (inline !== undefined) return { kind: "complete", update: { ...times, outputUri: outputRef ?? "", outputs: decodeBase64(inline) } };
  return outputRef ? { kind: "inBlob", uri: outputRef, update: { ...times, outputUri: outputRef } } : { kind: "incomplete" };
}

const UNKNOWN_ERROR: ExecutionErrorJson = { code: "UnknownError", message: "Unknown error", kind: "UNKNOWN" };

/** Converts an error in a status to a fact. */
export function statusError({ code, message, kind = "", errorUri = "" }: ExecutionErrorJson): ErrorColumns {
  const known = (ExecutionError_ErrorKind as unknown as Record<string, ExecutionError_ErrorKind | undefined>)[kind];
  return errorColumns(create(ExecutionErrorSchema, { code, message, errorUri, kind: known ?? ExecutionError_ErrorKind.UNKNOWN }));
}

/**
 * Parses a time in a status, nanoseconds since the epoch; undefined for an absent or malformed one.
 */
export function statusTime(text: string | undefined): bigint | undefined {
  const ms = Date.parse(text ?? "");
  return Number.isNaN(ms) ? undefined : clampNanos(BigInt(ms) * 1_000_000n);
}

export function decodeBase64(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64"));
}
