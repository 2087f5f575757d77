import { create } from "@bufbuild/protobuf";
import { childExecutionName } from "@flyte-ts/domain/name";
import {
  type ExecutionCreateRequest,
  ExecutionCreateRequestSchema,
  ExecutionMetadata_ExecutionMode,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import {
  type Identifier,
  type WorkflowExecutionIdentifier,
  WorkflowExecutionIdentifierSchema,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SHARD_KEY_LABEL, type WorkflowModel } from "@flyte-ts/workflow-crd";
import type { RuntimeNode } from "../graph/runtime.js";

/** Id of the execution that the node's current attempt starts or has started. */
export function childExecutionId(workflow: WorkflowModel, node: RuntimeNode): WorkflowExecutionIdentifier {
  const { project, domain } = workflow.executionId;
  const name = childExecutionName({ execution: workflow.name, nodeUniqueId: node.uniqueId, attempt: node.attempt });
  return create(WorkflowExecutionIdentifierSchema, { project, domain, name });
}

export interface ChildFacts {
  readonly workflow: WorkflowModel;
  readonly launchPlan: Identifier;
  readonly inputs: LiteralMap;
}

/**
 * Request to create the child, which inherits the parent's settings. Admin
 * determines the parent's principal and the nesting depth. The shard is the child's own.
 */
export function childExecutionRequest(node: RuntimeNode, { workflow, launchPlan, inputs }: ChildFacts): ExecutionCreateRequest {
  const { options } = workflow;
  const { [SHARD_KEY_LABEL]: _, ...labels } = workflow.labels;
  const { project, domain, name } = childExecutionId(workflow, node);
  return create(ExecutionCreateRequestSchema, {
    project,
    domain,
    name,
    inputs,
    spec: {
      launchPlan,
      metadata: {
        mode: ExecutionMetadata_ExecutionMode.CHILD_WORKFLOW,
        nesting: 1,
        parentNodeExecution: { nodeId: node.uniqueId, executionId: workflow.executionId },
      },
      labels: { values: labels },
      annotations: { values: { ...workflow.annotations } },
      securityContext: options.securityContext,
      maxParallelism: options.maxParallelism,
      rawOutputDataConfig: options.rawOutputPrefix === "" ? undefined : { outputLocationPrefix: options.rawOutputPrefix },
      interruptible: options.interruptible,
      overwriteCache: options.overwriteCache,
      envs: { values: [...options.environment] },
    },
  });
}
