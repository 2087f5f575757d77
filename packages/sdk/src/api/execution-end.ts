import { pathOf } from "@flyte-ts/client/browser";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { NodeExecutionListSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { ExecutionError_ErrorKind, WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExecutionFailed } from "../entity/errors.js";
import type { ExecutionName, Executions } from "./executions.js";

const FAILURES: ReadonlyMap<Phase, ExecutionFailed["phase"]> = new Map([
  [Phase.FAILED, "FAILED"],
  [Phase.ABORTED, "ABORTED"],
  [Phase.TIMED_OUT, "TIMED_OUT"],
]);

/** True when the execution has ended. */
export function hasEnded({ closure }: Execution): boolean {
  const phase = closure?.phase ?? Phase.UNDEFINED;
  return phase === Phase.SUCCEEDED || FAILURES.has(phase);
}

/** Phase of an execution that has ended, and its failure unless it succeeded. */
export interface ExecutionEnd {
  readonly phase: Phase;
  readonly failure: ExecutionFailed | undefined;
}

/** Returns how an execution has ended. */
export async function endOf(executions: Executions, id: ExecutionName, execution: Execution): Promise<ExecutionEnd> {
  return { phase: execution.closure?.phase ?? Phase.UNDEFINED, failure: await failureOf(executions, id, execution) };
}

async function failureOf(executions: Executions, id: ExecutionName, { closure }: Execution): Promise<ExecutionFailed | undefined> {
  const phase = FAILURES.get(closure?.phase ?? Phase.UNDEFINED);
  if (phase === undefined) return undefined;
  const result = closure?.outputResult;
  if (result?.case !== "error") {
    const cause = result?.case === "abortMetadata" ? result.value.cause : "";
    const failure = { execution: id.name, phase, kind: "UNKNOWN", code: "", node: undefined } as const;
    return new ExecutionFailed(`${id.name} ended ${phase}${cause && `: ${cause}`}`, failure);
  }
  const { message, code, kind } = result.value;
  const node = await failedNode(executions, id);
  const shownKind = kind === ExecutionError_ErrorKind.USER ? "USER" : kind === ExecutionError_ErrorKind.SYSTEM ? "SYSTEM" : "UNKNOWN";
  return new ExecutionFailed(`${id.name} ended ${phase}: ${message}`, { execution: id.name, phase, kind: shownKind, code, node });
}

/** Returns the node that failed first. */
async function failedNode({ api }: Executions, { project, domain, name }: ExecutionName): Promise<string | undefined> {
  const query = { limit: 1, filters: "eq(phase,FAILED)", "sort_by.key": "updated_at", "sort_by.direction": "ASCENDING" };
  const { nodeExecutions } = await api.call(NodeExecutionListSchema, pathOf("api/v1/node_executions", project, domain, name), { query });
  return nodeExecutions[0]?.id?.nodeId;
}
