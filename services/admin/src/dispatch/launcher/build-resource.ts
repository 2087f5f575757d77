import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import {
  type BuildInput,
  buildFlyteWorkflow as buildResource,
  type FlyteWorkflowResource,
  type ResourceQuantities,
} from "@flyte-ts/workflow-crd";
import type { DispatchDeps } from "../deps.js";
import { namespaceOf } from "../../platform/index.js";
import type { ResourceTexts } from "../../registry/index.js";
import type { launchables } from "../../executions/index.js";
import { type ClosureBlobCache, ClosureStoreError } from "./closure-blob-cache.js";
import type { StoredClosure } from "./closure-cache.js";
import type { LaunchRate } from "./launch-rate.js";

export interface ResourceDeps {
  readonly config: DispatchDeps["config"];
  readonly closureBlobs: ClosureBlobCache;
  readonly launchRate: LaunchRate;
}

/**
 * Builds the FlyteWorkflow of an execution. A graph that is large or launched often is stored as a
 * blob, and the resource has its URI.
 *
 * @throws WorkflowBuildError for a permanent failure to build it; ClosureStoreError when a large
 *   graph cannot be stored
 * now.
 */
export async function buildFlyteWorkflow(
  deps: ResourceDeps,
  execution: launchables.LaunchableExecution,
  stored: StoredClosure,
): Promise<FlyteWorkflowResource> {
  const input = buildInput(deps, execution, stored.closure);
  return buildResource({ ...input, closureReference: await closureReference(deps, execution, stored) });
}

/** Uploads the graph and returns its URI. Undefined: the resource contains the graph. */
async function closureReference(
  { config, closureBlobs, launchRate }: ResourceDeps,
  { settings }: launchables.LaunchableExecution,
  { encoded, large }: StoredClosure,
): Promise<string | undefined> {
  const { project, domain, name, version } = settings.workflow;
  const { container, metadataPrefix } = config.storage;
  const registered = [container, metadataPrefix, "admin", project, domain, name, version].join("/");
  const address = settings.queue === "" ? registered : `${registered}.queue-${queueHash(settings.queue)}`;
  if (!large && !launchRate.noteLaunch(address)) return undefined;
  try {
    await closureBlobs.ensure(address, encoded);
    return address;
  } catch (error) {
    // Without the blob, the resource itself contains a graph that is not large.
    if (error instanceof ClosureStoreError && !large) return undefined;
    throw error;
  }
}

/** Distinguishes the graphs of one workflow with several queues. */
function queueHash(queue: string): string {
  return createHash("sha256").update(queue).digest("hex").slice(0, 16);
}

function buildInput(
  { config }: Pick<ResourceDeps, "config">,
  execution: launchables.LaunchableExecution,
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
