import type { ExecutionRow } from "../../api/execution-row.js";

/** Runs of one workflow among the latest executions. */
export interface WorkflowRuns {
  readonly workflow: string;
  /** Oldest first. */
  readonly runs: readonly ExecutionRow[];
  /** Share of the ended runs that succeeded, 0 to 1; undefined when none has ended. */
  readonly succeeded: number | undefined;
  /** Median of the runs that succeeded, ms. */
  readonly medianMs: number | undefined;
  readonly last: ExecutionRow;
}

/** Runs that are drawn of a workflow. */
const MAX_RUNS = 24;

/** Groups executions, newest first, by workflow: those with failures first, then the latest. */
export function workflowRuns(rows: readonly ExecutionRow[]): readonly WorkflowRuns[] {
  const groups = Map.groupBy(rows, ({ workflow }) => workflow);
  return [...groups.entries()]
    .flatMap(([workflow, members]) => {
      const [last] = members;
      if (last === undefined) return [];
      const runs = members.slice(0, MAX_RUNS).toReversed();
      return [{ workflow, runs, succeeded: succeededShare(runs), medianMs: medianMs(runs), last }];
    })
    .sort((one, other) => attention(other) - attention(one) || (other.last.createdMs ?? 0) - (one.last.createdMs ?? 0));
}

/** Workflows whose last run failed come first. */
function attention({ last }: WorkflowRuns): number {
  return last.look.kind === "bad" ? 1 : 0;
}

/** Share of the ended executions that succeeded, 0 to 1; undefined when none has ended. */
export function succeededShare(rows: readonly ExecutionRow[]): number | undefined {
  const ended = rows.filter(({ look }) => look.terminal);
  return ended.length === 0 ? undefined : ended.filter(({ look }) => look.kind === "ok").length / ended.length;
}

/** Median duration of the executions that succeeded, ms. */
export function medianMs(rows: readonly ExecutionRow[]): number | undefined {
  const durations = rows
    .filter(({ look }) => look.kind === "ok")
    .flatMap(({ durationMs }) => (durationMs === undefined ? [] : [durationMs]))
    .sort((one, other) => one - other);
  return durations[Math.floor((durations.length - 1) / 2)];
}
