import type { Logger } from "@flyte-ts/telemetry";
import { Code, RpcError } from "@flyte-ts/rpc";
import { CallFailure } from "../endpoint/call-failure.js";
import type { ConnectorCalls } from "../endpoint/connector-calls.js";
import type { Endpoint } from "../endpoint/endpoint.js";

export interface OptionalCall<T> {
  readonly name: "GetTaskLogs" | "GetTaskMetrics";
  readonly taskType: string;
  readonly endpoint: Endpoint;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly run: (calls: ConnectorCalls) => Promise<T>;
}

/**
 * Makes a call that not every connector has. Undefined where it lacks the call, fails or does not
 * answer: such a call changes nothing of its task.
 */
export async function optionalCall<T>({ name, taskType, endpoint, signal, logger, run }: OptionalCall<T>): Promise<T | undefined> {
  const { unsupported } = endpoint;
  if (unsupported.has(name, taskType)) return undefined;
  try {
    return await endpoint.call({ name, lane: "poll", isObsolete: () => signal.aborted, run });
  } catch (error) {
    if (!(error instanceof CallFailure)) throw error;
    if (isUnsupported(error.cause)) unsupported.add(name, taskType);
    else if (!signal.aborted) logger.warn({ taskType, error: error.message }, "a connector gave no logs or metrics of a task");
    return undefined;
  }
}

/**
 * Recognizes a missing call. Flytekit's server answers UNKNOWN: with the name of the exception of a
 * base class, and for GetTaskLogs, whose handler is no generator, without a text.
 */
function isUnsupported(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false;
  const { code, message } = error;
  return code === Code.UNIMPLEMENTED || (code === Code.UNKNOWN && (message === "" || message.includes("NotImplementedError")));
}
