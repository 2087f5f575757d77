import type { JsonObject } from "@bufbuild/protobuf";
import { executionNamespace, shardOf } from "@flyte-ts/domain/name";
import { RawOutputDataConfigSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import { API_VERSION, FINALIZER, KIND, SHARD_KEY_LABEL, SYSTEM_LABELS, type FlyteWorkflowResource } from "../resource/resource.js";
import { identityLabels } from "../resource/identity-labels.js";
import { buildClosure } from "./closure.js";
import { buildExecutionConfig } from "./execution-config.js";
import type { BuildInput } from "./input.js";
import { goStructJson, protobufJson } from "./protobuf-json.js";

/** Events say which nodes are parents and which are dynamic (Go Flyte's newest event version). */
const EVENT_VERSION = 2;

/**
 * Builds the resource of an execution, as FlyteAdmin 1.16 writes it, ready to be posted.
 * @throws WorkflowBuildError when the closure is not compiled or a quantity is invalid.
 */
export function buildFlyteWorkflow(input: BuildInput): FlyteWorkflowResource {
  const { executionId, closureReference, inputsReference } = input;
  const { template } = input.closure.primary ?? {};
  const name = template?.id?.name ?? "";
  const serviceAccountName = input.serviceAccountName || (input.securityContext?.runAs?.k8sServiceAccount ?? "");
  // Skips a graph that is in the blob store: it is large, and its reader builds it.
  const closure = closureReference === undefined ? buildClosure(input.closure, input.resources) : undefined;
  const interruptible = template?.metadataDefaults?.interruptible ?? false;
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata: {
      name: executionId.name,
      namespace: input.namespace ?? executionNamespace(executionId.project, executionId.domain),
      labels: {
        ...Object.fromEntries(Object.entries(input.labels).filter(([label]) => !SYSTEM_LABELS.includes(label))),
        ...identityLabels(executionId, name),
        [SHARD_KEY_LABEL]: String(shardOf(executionId.name)),
      },
      ...(Object.keys(input.annotations).length > 0 ? { annotations: input.annotations } : {}),
      finalizers: [FINALIZER],
    },
    spec: closure?.spec ?? null,
    workflowMeta: { eventVersion: EVENT_VERSION },
    ...(inputsReference === undefined ? { inputs: protobufJson(LiteralMapSchema, input.inputs) } : {}),
    executionId: goStructJson(WorkflowExecutionIdentifierSchema, executionId),
    tasks: closure?.tasks ?? null,
    ...(closure === undefined || Object.keys(closure.subWorkflows).length === 0 ? {} : { subWorkflows: closure.subWorkflows }),
    "node-defaults": interruptible ? { interruptible: true } : {},
    acceptedAt: `${input.acceptedAt.toISOString().slice(0, 19)}Z`,
    ...(serviceAccountName === "" ? {} : { serviceAccountName }),
    securityContext: securityContext(input),
    status: { phase: 0 },
    rawOutputDataConfig: input.rawOutputDataConfig === undefined ? {} : goStructJson(RawOutputDataConfigSchema, input.rawOutputDataConfig),
    executionConfig: buildExecutionConfig(input),
    ...(closureReference === undefined ? {} : { workflowClosureReference: closureReference }),
    ...(input.consoleUrl === undefined || input.consoleUrl === "" ? {} : { consoleUrl: input.consoleUrl }),
    ...(inputsReference === undefined ? {} : { offloadedInputs: inputsReference }),
  };
}

function securityContext({ securityContext: context }: BuildInput): JsonObject {
  return context === undefined ? {} : goStructJson(SecurityContextSchema, context);
}
