import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ExecutionRow } from "../execution/find.js";
import type { Snapshot } from "./snapshot.js";

/** An execution, and the snapshot up to which its rows are known. */
export interface KnownState {
  readonly executionId: bigint;
  readonly id: WorkflowExecutionIdentifier;
  readonly snapshot: Snapshot;
  /** Time of the snapshot, milliseconds since the epoch. */
  readonly readAt: number;
}

export interface ChangesOfAll<Changes> {
  readonly snapshot: Snapshot;
  /** Changes by row id of the execution; `gone` when the row was deleted. */
  readonly changes: ReadonlyMap<bigint, Changes | "gone">;
}

/** End of an execution, milliseconds since the epoch; undefined before. */
export function endedAt({ ended_ns: nanos }: Pick<ExecutionRow, "ended_ns">): number | undefined {
  return nanos === null ? undefined : Number(nanos / 1_000_000n);
}
