import { codeName } from "../code.js";
import { toRpcError } from "../rpc-error.js";
import type { Interceptor } from "../service.js";
import { type ExecutionId, randomSpanId, randomTraceId, type SpanSink, traceIdOf } from "@flyte-ts/telemetry";

/**
 * Creates a span for every call. It belongs to the trace of the execution that the request or the
 * answer names, else to a new trace.
 */
export function callSpans(sink: SpanSink, now: () => number): Interceptor {
  return async ({ context, request }, next) => {
    const start = now();
    const record = (answer: unknown, failure: string | undefined) => {
      const id = executionOf(request) ?? executionOf(answer);
      sink.record({
        traceId: id === undefined ? randomTraceId() : traceIdOf(id),
        spanId: randomSpanId(),
        name: context.method.name,
        kind: "server",
        start,
        end: now(),
        attributes: { "rpc.system": "grpc", "rpc.service": context.method.parent.typeName, "rpc.method": context.method.name },
        failure,
      });
    };
    try {
      const answer = await next(context);
      record(answer, undefined);
      return answer;
    } catch (error) {
      const { code, message } = toRpcError(error);
      record(undefined, `${codeName(code)}: ${message}`);
      throw error;
    }
  };
}

const EXECUTION = "flyteidl.core.WorkflowExecutionIdentifier";
/** Fields in which requests and answers name their execution. */
const EXECUTION_PATHS = ["id", "workflowExecutionId", "executionId", "nodeExecutionId", "parentNodeExecutionId", "event"];

/** Finds the execution that a message names, at most three levels below it. */
function executionOf(message: unknown, depth = 0): ExecutionId | undefined {
  if (typeof message !== "object" || message === null || depth > 3) return undefined;
  if ((message as { $typeName?: string }).$typeName === EXECUTION) return message as unknown as ExecutionId;
  for (const place of EXECUTION_PATHS) {
    const found = executionOf((message as Record<string, unknown>)[place], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
