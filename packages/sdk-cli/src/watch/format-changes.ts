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

interface Line {
  /** Time of the change, ms; the end of the execution is the last line whatever its time. */
  readonly atMs: number;
  readonly text: string;
}

/** Converts messages of a watch to one line for each visible change, in the order of time. */
export class ChangeFormatter {
  readonly #lastShown = new Map<string, string>();
  #phase = WorkflowExecution_Phase.UNDEFINED;
  /** Lines of a state that has not arrived completely. */
  #partial: Line[] | undefined;

  /** The last phase of the execution. */
  get phase(): WorkflowExecution_Phase {
    return this.#phase;
  }

  /** Returns the lines of a message; those of a complete state with its last message. */
  lines(message: WatchExecutionResponse): string[] {
    if (message.reset) this.#partial = [];
    const lines = this.#partial ?? [];
    for (const line of this.#linesOf(message)) lines.push(line);
    if (this.#partial !== undefined && !message.complete && !message.ended) return [];
    this.#partial = undefined;
    return lines.sort((one, other) => one.atMs - other.atMs).map(({ text }) => text);
  }

  *#linesOf({ execution, nodes, tasks }: WatchExecutionResponse): Iterable<Line> {
    for (const { id, closure } of tasks) {
      const subject = `${id?.nodeExecutionId?.nodeId ?? ""} attempt ${id?.retryAttempt ?? 0}`;
      const text = closure?.outputResult.case === "error" ? closure.outputResult.value.message : currentReason(closure);
      yield* this.#formatLine(subject, { phase: TaskExecution_Phase[closure?.phase ?? 0], at: closure?.updatedAt, text });
    }
    for (const { node, parentNodeId } of nodes) {
      if (isReservedNode(node?.id?.nodeId ?? "")) continue;
      const { closure } = node ?? {};
      const error = closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
      const subject = `${node?.id?.nodeId ?? ""}${parentNodeId === "" ? "" : ` in ${parentNodeId}`}`;
      yield* this.#formatLine(subject, { phase: NodeExecution_Phase[closure?.phase ?? 0], at: closure?.updatedAt, text: error });
    }
    if (execution !== undefined) {
      const { closure } = execution;
      this.#phase = closure?.phase ?? this.#phase;
      const result = closure?.outputResult;
      const text = result?.case === "error" ? result.value.message : result?.case === "abortMetadata" ? result.value.cause : "";
      const lines = this.#formatLine("execution", { phase: WorkflowExecution_Phase[this.#phase], at: closure?.updatedAt, text });
      for (const line of lines) yield { ...line, atMs: Infinity };
    }
  }

  /** Formats the state of a subject, unless it is the one that was shown last. */
  *#formatLine(
    subject: string,
    { phase = "", at, text }: { phase: string | undefined; at: Timestamp | undefined; text: string },
  ): Iterable<Line> {
    // A new execution has no phase yet.
    if (phase === "UNDEFINED") return;
    // The last line that contains a word is the most important one of an error.
    const lastLine =
      text
        .split("\n")
        .findLast((line) => /\w{2}/.test(line))
        ?.trim() ?? "";
    const shown = `${phase} ${lastLine}`;
    if (this.#lastShown.get(subject) === shown) return;
    this.#lastShown.set(subject, shown);
    const time = at === undefined ? "" : timestampDate(at).toISOString().slice(11, 23);
    yield {
      atMs: at === undefined ? 0 : timestampDate(at).getTime(),
      text: `${time}  ${subject.padEnd(24)} ${phase.padEnd(10)} ${lastLine}`.trimEnd(),
    };
  }
}
