import type { ExecutionCreateRequestJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";

const INDENT = 2;

/** Writes the call that starts an execution in its JSON form. */
export function requestJson(request: ExecutionCreateRequestJson): string {
  return JSON.stringify(request, null, INDENT);
}
