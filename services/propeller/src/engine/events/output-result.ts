import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { errorFromJson } from "../errors/error-json.js";

/** Result in a terminal event: the error, else the outputs' location, else none. */
export function outputResult({
  error,
  outputUri,
}: {
  readonly error?: ExecutionErrorJson | undefined;
  readonly outputUri?: string | undefined;
}) {
  if (error !== undefined) return { case: "error" as const, value: errorFromJson(error) };
  if (outputUri !== undefined) return { case: "outputUri" as const, value: outputUri };
  return { case: undefined };
}
