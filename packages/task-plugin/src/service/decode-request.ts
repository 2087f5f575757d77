import { decodeMessage } from "@flyte-ts/proto-codec";
import { checkMessageLimits } from "@flyte-ts/messaging";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

export type DecodedRequest =
  | { readonly kind: "request"; readonly request: TaskRequest }
  /** Stop all attempts of a workflow; `workflow_key` and `owner.uid` are set. */
  | { readonly kind: "abortAll"; readonly request: TaskRequest }
  /** An invalid request that can be answered: its ids are readable. */
  | { readonly kind: "invalid"; readonly request: TaskRequest; readonly reason: string }
  | { readonly kind: "undecodable"; readonly reason: string };

/** Decodes a request and checks the fields on which every plugin relies. */
export function decodeRequest(data: Uint8Array, taskTypes: readonly string[]): DecodedRequest {
  let request: TaskRequest;
  try {
    request = decodeMessage(TaskRequestSchema, checkMessageLimits(TaskRequestSchema, data));
  } catch (cause) {
    return { kind: "undecodable", reason: `not a TaskRequest: ${cause instanceof Error ? cause.message : String(cause)}` };
  }
  if (request.desired === DesiredState.ABORT_ALL) {
    if (request.workflowKey !== "" && (request.owner?.uid ?? "") !== "") return { kind: "abortAll", request };
    return { kind: "undecodable", reason: "workflow_key and owner.uid are required to abort all attempts" };
  }
  const execution = request.id?.nodeExecutionId?.executionId;
  if (execution === undefined || request.workflowKey === "" || request.generatedName === "" || request.namespace === "") {
    return { kind: "undecodable", reason: "id.node_execution_id.execution_id, workflow_key, namespace and generated_name are required" };
  }
  if (request.desired === DesiredState.UNSPECIFIED) return { kind: "undecodable", reason: "desired: is required" };
  const reason = validationError(request, taskTypes);
  return reason === undefined ? { kind: "request", request } : { kind: "invalid", request, reason };
}

function validationError(request: TaskRequest, taskTypes: readonly string[]): string | undefined {
  // Requests to stop or remove an attempt need no template.
  if (request.desired !== DesiredState.RUN) return undefined;
  if (request.template === undefined) return "template: is required";
  if (!taskTypes.includes(request.template.type))
    return `template.type: this plugin does not serve ${JSON.stringify(request.template.type)}`;
  if (request.id?.taskId === undefined) return "id.task_id: is required";
  if (request.inputUri === "") return "input_uri: is required";
  if (request.outputPrefix === "") return "output_prefix: is required";
  return undefined;
}
