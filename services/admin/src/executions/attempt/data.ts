import type { MessageInitShape } from "@bufbuild/protobuf";
import { flyteUrl } from "@flyte-ts/domain/identifier";
import type { TaskExecutionGetDataResponseSchema } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import { type DataDeps, readValues } from "../blobs/read-values.js";
import type { TaskId } from "../model/identifier.js";
import { findTaskExecution } from "../store/attempt/find.js";

/** @throws RpcError NOT_FOUND. */
export async function taskData(deps: DataDeps, id: TaskId): Promise<MessageInitShape<typeof TaskExecutionGetDataResponseSchema>> {
  const row = await findTaskExecution(deps.db, id);
  const [inputs, outputs] = await Promise.all([
    readValues(deps, { bytes: row.inputs, uri: row.input_uri }),
    readValues(deps, { bytes: row.outputs, uri: row.output_uri }),
  ]);
  const { executionId, nodeId: node } = id.nodeExecutionId;
  const at = { project: executionId.project, domain: executionId.domain, execution: executionId.name, node, attempt: id.retryAttempt };
  return {
    inputs: inputs.url,
    outputs: outputs.url,
    fullInputs: inputs.values,
    fullOutputs: outputs.values,
    flyteUrls: { inputs: flyteUrl({ ...at, kind: "inputs" }), outputs: flyteUrl({ ...at, kind: "outputs" }) },
  };
}
