import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { nanosOfDate } from "@flyte-ts/execution-state";
import { workflowPhaseOf } from "../model/phase-name.js";
import type { ExecutionRow } from "../store/execution/find.js";

/**
 * Sets the blocker of a non-terminal execution to the outage of the message bus, during which its
 * engine cannot report one.
 */
export function withBusProblem(row: ExecutionRow, problem: string | undefined, now: Date): ExecutionRow {
  if (problem === undefined || row.notice !== "" || isTerminalWorkflowEvent(workflowPhaseOf(row.phase))) return row;
  return { ...row, notice: problem, notice_ns: nanosOfDate(now) };
}
