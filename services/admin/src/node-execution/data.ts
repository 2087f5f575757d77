import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { flyteUrl } from "@flyte-ts/domain";
import type { NodeExecutionGetDataResponseSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type DataDeps, readValues } from "../execution/data.js";
import type { NodeId } from "../execution/identifier.js";
import { findNodeWithValues } from "./find.js";

/** @throws RpcError NOT_FOUND. */
export async function nodeData(deps: DataDeps, id: NodeId): Promise<MessageInitShape<typeof NodeExecutionGetDataResponseSchema>> {
  const row = await findNodeWithValues(deps.db, id);
  const [inputs, outputs] = await Promise.all([
    readValues(deps, { bytes: row.inputs, uri: row.input_uri }),
    readValues(deps, { bytes: row.outputs, uri: row.output_uri }),
  ]);
  const { project, domain, name: execution } = id.executionId;
  const at = { project, domain, execution, node: id.nodeId };
  const closure = row.dynamic_workflow === null ? undefined : fromBinary(CompiledWorkflowClosureSchema, row.dynamic_workflow);
  const workflowId = closure?.primary?.template?.id;
  return {
    inputs: inputs.url,
    outputs: outputs.url,
    fullInputs: inputs.values,
    fullOutputs: outputs.values,
    flyteUrls: {
      inputs: flyteUrl({ ...at, kind: "inputs" }),
      outputs: flyteUrl({ ...at, kind: "outputs" }),
      deck: row.deck_uri === "" ? "" : flyteUrl({ ...at, kind: "deck" }),
    },
    ...(closure && {
      dynamicWorkflow: { compiledWorkflow: closure, dynamicJobSpecUri: row.dynamic_job_spec_uri, ...(workflowId && { id: workflowId }) },
    }),
  };
}
