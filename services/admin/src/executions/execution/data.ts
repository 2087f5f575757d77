import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WorkflowExecutionGetDataResponseSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { type ExecutionName, executionNotFound } from "../model/identifier.js";
import { findExecutionValues } from "../store/execution/find.js";
import { type DataDeps, readValues } from "../blobs/read-values.js";

/** @throws RpcError NOT_FOUND. */
export async function executionData(
  deps: DataDeps,
  id: ExecutionName,
): Promise<MessageInitShape<typeof WorkflowExecutionGetDataResponseSchema>> {
  const row = await findExecutionValues(deps.db, id);
  if (row === undefined) throw executionNotFound(id);
  const inputs = await readValues(deps, { bytes: row.inputs, uri: "" });
  const outputs = await readValues(deps, row.result === "outputs" ? { bytes: row.outputs, uri: row.output_uri } : { bytes: null, uri: "" });
  return { inputs: inputs.url, outputs: outputs.url, fullInputs: inputs.values, fullOutputs: outputs.values };
}
