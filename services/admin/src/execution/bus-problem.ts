import { isTerminalWorkflowEvent } from "@flyte-ts/domain";
import { nanosOfDate } from "@flyte-ts/execution-state";
import { workflowPhaseOf } from "../event/phase-name.js";
import type { ExecutionRow } from "./row.js";

/** Shows an execution that has not ended as waiting for the message bus while that cannot be used: its engine could not tell it. */
export function withBusProblem(row: ExecutionRow, problem: string | undefined, now: Date): ExecutionRow {
  if (problem === undefined || row.notice !== "" || isTerminalWorkflowEvent(workflowPhaseOf(row.phase))) return row;
  return { ...row, notice: problem, notice_ns: nanosOfDate(now) };
}
