import type { MessageInitShape } from "@bufbuild/protobuf";
import { flyteUrl } from "@flyte-ts/domain/identifier";
import type { NodeExecutionGetDataResponseSchema } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import { type DataDeps, readValues } from "../blobs/read-values.js";
import type { NodeId } from "../model/identifier.js";
import { readDynamicWorkflow } from "../blobs/dynamic-workflow.js";
import { findNodeWithValues } from "../store/node/find.js";

/** @throws RpcError NOT_FOUND. */
export async function nodeData(deps: DataDeps, id: NodeId): Promise<MessageInitShape<typeof NodeExecutionGetDataResponseSchema>> {
  const row = await findNodeWithValues(deps.db, id);
  const [inputs, outputs, closure] = await Promise.all([
    readValues(deps, { bytes: row.inputs, uri: row.input_uri }),
    readValues(deps, { bytes: row.outputs, uri: row.output_uri }),
    readDynamicWorkflow(deps.blobs, row).catch((error: unknown) => {
      deps.logger.warn({ uri: row.dynamic_workflow_uri, error: String(error) }, "the compiled workflow of a dynamic node cannot be read");
      return undefined;
    }),
  ]);
  const { project, domain, name: execution } = id.executionId;
  const at = { project, domain, execution, node: id.nodeId };
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
