import type { ExecutionRow } from "../../api/execution-row.js";

/** Run of a workflow as strips and tables show it. */
export type Run = Pick<ExecutionRow, "key" | "look" | "createdMs" | "durationMs">;

/** Runs of one workflow among the latest executions. */
export interface WorkflowRuns {
  readonly workflow: string;
  /** Oldest first. */
  readonly runs: readonly Run[];
  /** Share of the ended runs that succeeded, 0 to 1; undefined when none has ended. */
  readonly succeeded: number | undefined;
  /** Median of the runs that succeeded, ms. */
  readonly medianMs: number | undefined;
  readonly last: Run;
}

/** Runs that are drawn of a workflow. */
const MAX_RUNS = 24;

/** Groups executions, newest first, by workflow: those with failures first, then the latest. */
export function workflowRuns(rows: readonly (Run & Pick<ExecutionRow, "workflow">)[]): readonly WorkflowRuns[] {
  const groups = Map.groupBy(rows, ({ workflow }) => workflow);
  return [...groups.entries()]
    .flatMap(([workflow, members]) => {
      const runs = members.slice(0, MAX_RUNS).toReversed();
      return runsOf(workflow, runs);
    })
    .sort(byAttention);
}

/** Summarizes the runs of a workflow, oldest first; returns nothing when there are none. */
export function runsOf(workflow: string, runs: readonly Run[]): readonly WorkflowRuns[] {
  const last = runs.at(-1);
  return last === undefined ? [] : [{ workflow, runs, succeeded: succeededShare(runs), medianMs: medianMs(runs), last }];
}

/** Orders workflows: those whose last run failed, then the latest. */
export function byAttention(one: WorkflowRuns, other: WorkflowRuns): number {
  return attention(other) - attention(one) || (other.last.createdMs ?? 0) - (one.last.createdMs ?? 0);
}

/** Workflows whose last run failed come first. */
function attention({ last }: WorkflowRuns): number {
  return last.look.kind === "bad" ? 1 : 0;
}

/** Share of the ended executions that succeeded, 0 to 1; undefined when none has ended. */
export function succeededShare(rows: readonly Run[]): number | undefined {
  const ended = rows.filter(({ look }) => look.terminal);
  return ended.length === 0 ? undefined : ended.filter(({ look }) => look.kind === "ok").length / ended.length;
}

/** Median duration of the executions that succeeded, ms. */
export function medianMs(rows: readonly Run[]): number | undefined {
  const durations = rows
    .filter(({ look }) => look.kind === "ok")
    .flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs]))
    .sort((one, other) => one - other);
  return durations[Math.floor((durations.length - 1) / 2)];
}
