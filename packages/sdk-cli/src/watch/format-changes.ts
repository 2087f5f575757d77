import { isReservedNode } from "@flyte-ts/domain/graph";
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { TaskExecutionClosure } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { WatchExecutionResponse } from "@flyte-ts/idl/flytets/admin/v1/live_pb";

/**
 * Gives the reason of a phase that is not a success: a task that succeeded keeps the reason of an
 * earlier phase.
 */
function currentReason(closure: TaskExecutionClosure | undefined): string {
  return closure === undefined || closure.phase === TaskExecution_Phase.SUCCEEDED ? "" : closure.reason;
}

/** Converts messages of a watch to one line for each visible change. */
export class ChangeFormatter {
  readonly #lastShown = new Map<string, string>();
  #phase = WorkflowExecution_Phase.UNDEFINED;

  /** The last phase of the execution. */
  get phase(): WorkflowExecution_Phase {
    return this.#phase;
  }

  lines({ execution, nodes, tasks }: WatchExecutionResponse): string[] {
    const lines: (string | undefined)[] = [];
    for (const { node, parentNodeId } of nodes) {
      if (isReservedNode(node?.id?.nodeId ?? "")) continue;
      const { closure } = node ?? {};
      const error = closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
      const subject = `${node?.id?.nodeId ?? ""}${parentNodeId === "" ? "" : ` in ${parentNodeId}`}`;
      lines.push(this.#formatLine(subject, { phase: NodeExecution_Phase[closure?.phase ?? 0], at: closure?.updatedAt, text: error }));
    }
    for (const { id, closure } of tasks) {
      const subject = `${id?.nodeExecutionId?.nodeId ?? ""} attempt ${id?.retryAttempt ?? 0}`;
      const text = closure?.outputResult.case === "error" ? closure.outputResult.value.message : currentReason(closure);
      lines.push(this.#formatLine(subject, { phase: TaskExecution_Phase[closure?.phase ?? 0], at: closure?.updatedAt, text }));
    }
    // Last, so that the end of the execution is printed after all its nodes.
    if (execution !== undefined) {
      const { closure } = execution;
      this.#phase = closure?.phase ?? this.#phase;
      const result = closure?.outputResult;
      const text = result?.case === "error" ? result.value.message : result?.case === "abortMetadata" ? result.value.cause : "";
      lines.push(this.#formatLine("execution", { phase: WorkflowExecution_Phase[this.#phase], at: closure?.updatedAt, text }));
    }
    return lines.filter((line) => line !== undefined);
  }

  #formatLine(
    subject: string,
    { phase = "", at, text }: { phase: string | undefined; at: Timestamp | undefined; text: string },
  ): string | undefined {
    // A new execution has no phase yet.
    if (phase === "UNDEFINED") return undefined;
    // The last line that contains a word is the most important one of an error.
    const lastLine =
      text
        .split("\n")
        .findLast((line) => /\w{2}/.test(line))
        ?.trim() ?? "";
    const shown = `${phase} ${lastLine}`;
    if (this.#lastShown.get(subject) === shown) return undefined;
    this.#lastShown.set(subject, shown);
    const time = at === undefined ? "" : timestampDate(at).toISOString().slice(11, 23);
    return `${time}  ${subject.padEnd(24)} ${phase.padEnd(10)} ${lastLine}`.trimEnd();
  }
}
