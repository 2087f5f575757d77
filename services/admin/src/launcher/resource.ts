import { create } from "@bufbuild/protobuf";
import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type BuildInput, buildFlyteWorkflow, type FlyteWorkflowResource, type ResourceQuantities } from "@flyte-ts/workflow-crd";
import type { AdminDeps } from "../deps.js";
import { namespaceOf } from "../execution/namespace.js";
import type { ResourceTexts } from "../task/resources.js";
import type { ClosureBlobs } from "./closure-blobs.js";
import type { StoredClosure } from "./closure-cache.js";
import type { LaunchableExecution } from "./execution.js";

export interface ResourceDeps {
  readonly config: AdminDeps["config"];
  readonly closureBlobs: ClosureBlobs;
}

/**
 * The FlyteWorkflow of an execution. A large graph stands in the blob store, and the resource names its address.
 *
 * @throws WorkflowBuildError when it cannot be built, whenever that is tried; ClosureNotStored when its graph cannot be stored now.
 */
export async function flyteWorkflowOf(
  deps: ResourceDeps,
  execution: LaunchableExecution,
  { closure, encoded }: StoredClosure,
): Promise<FlyteWorkflowResource> {
  const input = buildInput(deps, execution, closure);
  if (encoded === undefined) return buildFlyteWorkflow(input);
  const { project, domain, name, version } = execution.settings.workflow;
  const { container, metadataPrefix } = deps.config.storage;
  const closureReference = [container, metadataPrefix, "admin", project, domain, name, version].join("/");
  await deps.closureBlobs.ensure(closureReference, encoded);
  return buildFlyteWorkflow({ ...input, closureReference });
}

function buildInput(
  { config }: Pick<ResourceDeps, "config">,
  execution: LaunchableExecution,
  closure: CompiledWorkflowClosure,
): BuildInput {
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
    resources: {
      defaults: quantities(settings.resources.defaults),
      defaultLimits: settings.resources.defaultLimits && quantities(settings.resources.defaultLimits),
      limits: quantities(settings.resources.limits),
    },
    taskPluginOverrides: settings.pluginOverrides,
    recoveryExecution: settings.recovers,
  };
}

function quantities(texts: Omit<ResourceTexts, "gpu"> & Partial<ResourceTexts>): ResourceQuantities {
  return { gpu: "", ...texts, storage: "" };
}
