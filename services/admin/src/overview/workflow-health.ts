import { create } from "@bufbuild/protobuf";
import { type Duration, DurationSchema, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { FailureGroup, WorkflowHealth } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { WorkflowHealthSchema, WorkflowRunSchema } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { phaseNames } from "../executions/index.js";
import type { RunRow } from "./store/workflow-runs.js";

const NANOS = 1_000_000_000n;

/** Makes the workflows of their runs, which are sorted newest first by workflow. */
export function workflowHealth(rows: readonly RunRow[]): WorkflowHealth[] {
  return [...Map.groupBy(rows, ({ workflow_name: name }) => name).entries()].map(([name, members]) =>
    create(WorkflowHealthSchema, {
      name,
      runs: members.toReversed().map((row) =>
        create(WorkflowRunSchema, {
          execution: row.execution_name,
          phase: phaseNames.workflowPhaseOf(row.phase),
          createdAt: timestampFromDate(row.created_at),
          ...(row.started_ns !== null && row.ended_ns !== null && { duration: durationOfNanos(row.duration) }),
        }),
      ),
    }),
  );
}

/** Returns the median and the 99th percentile of the time from acceptance to start. */
export function startDelays(rows: readonly RunRow[]): { readonly medianStartDelay?: Duration; readonly p99StartDelay?: Duration } {
  const delays = rows
    .flatMap(({ accepted_ns: accepted, started_ns: started }) => (started === null || started < accepted ? [] : [started - accepted]))
    .sort((one, other) => Number(one - other));
  const at = (share: number): bigint | undefined => delays[Math.floor((delays.length - 1) * share)];
  const [median, p99] = [at(0.5), at(0.99)];
  if (median === undefined || p99 === undefined) return {};
  return { medianStartDelay: durationOfNanos(median), p99StartDelay: durationOfNanos(p99) };
}

/** Marks the groups of failures whose workflow has succeeded since. */
export function markSucceeded(groups: readonly FailureGroup[], rows: readonly RunRow[]): void {
  const lastSuccess = new Map<string, Date>();
  for (const { workflow_name: name, phase, created_at: createdAt } of rows)
    if (phase === "SUCCEEDED" && !lastSuccess.has(name)) lastSuccess.set(name, createdAt);
  for (const group of groups) {
    const success = lastSuccess.get(group.workflow);
    group.succeededSince = success !== undefined && group.lastAt !== undefined && success > timestampDate(group.lastAt);
  }
}

function durationOfNanos(nanos: bigint): Duration {
  return create(DurationSchema, { seconds: nanos / NANOS, nanos: Number(nanos % NANOS) });
}
