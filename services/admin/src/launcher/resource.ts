import { create, toBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type BuildInput, buildFlyteWorkflow, type FlyteWorkflowResource } from "@flyte-ts/workflow-crd";
import type { AdminDeps } from "../deps.js";
import { namespaceOf } from "../execution/namespace.js";
import type { ResourceTexts } from "../task/resources.js";
import type { StoredClosure } from "./closure-cache.js";
import type { LaunchableExecution } from "./execution.js";

export type ResourceDeps = Pick<AdminDeps, "blobs" | "config">;

/** Resources larger than this, in bytes of JSON, hold the address of their graph instead: etcd takes 1.5 MiB. */
const MAX_RESOURCE_BYTES = 1_000_000;

/**
 * The FlyteWorkflow of an execution.
 *
 * @throws WorkflowBuildError when it cannot be built, whenever that is tried.
 */
export async function flyteWorkflowOf(
  deps: ResourceDeps,
  execution: LaunchableExecution,
  { closure, encoded }: StoredClosure,
): Promise<FlyteWorkflowResource> {
  const input = buildInput(deps, execution, closure);
  if (encoded === undefined) {
    const whole = buildFlyteWorkflow(input);
    if (Buffer.byteLength(JSON.stringify(whole)) <= MAX_RESOURCE_BYTES) return whole;
  }
  const { project, domain, name, version } = execution.settings.workflow;
  const { container, metadataPrefix } = deps.config.storage;
  const closureReference = [container, metadataPrefix, "admin", project, domain, name, version].join("/");
  // A version never changes: what stands there is the same.
  if ((await deps.blobs.head(closureReference)) === undefined) {
    await deps.blobs.put(closureReference, encoded ?? toBinary(CompiledWorkflowClosureSchema, closure));
  }
  return buildFlyteWorkflow({ ...input, closureReference });
}

function buildInput({ config }: ResourceDeps, execution: LaunchableExecution, closure: CompiledWorkflowClosure): BuildInput {
  const { project, domain, name, inputs, acceptedAt, settings } = execution;
  const merged = settings.config;
  return {
    executionId: create(WorkflowExecutionIdentifierSchema, { project, domain, name }),
    namespace: namespaceOf(config.namespaceTemplate, project, domain),
    closure,
    inputs,
    labels: merged.labels?.values ?? {},
    annotations: merged.annotations?.values ?? {},
    acceptedAt,
    serviceAccountName: merged.securityContext?.runAs?.k8sServiceAccount ?? "",
    securityContext: merged.securityContext,
    rawOutputDataConfig: merged.rawOutputDataConfig,
    maxParallelism: merged.maxParallelism,
    interruptible: merged.interruptible,
    overwriteCache: merged.overwriteCache,
    environment: merged.envs?.values ?? [],
    resourceDefaults: quantities(settings.resources.defaults),
    resourceLimits: quantities(settings.resources.limits),
    taskPluginOverrides: settings.pluginOverrides,
    recoveryExecution: settings.recovers,
  };
}

function quantities(texts: ResourceTexts): BuildInput["resourceDefaults"] {
  return { ...texts, storage: "" };
}
