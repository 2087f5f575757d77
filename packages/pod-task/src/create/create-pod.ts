import { QuantityError } from "@flyte-ts/domain/quantity";
import { TemplateError } from "@flyte-ts/domain/template";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type KubeClient, PODS } from "@flyte-ts/kubernetes";
import { PermanentFailure } from "@flyte-ts/task-plugin";
import { buildPod } from "../build/build-pod.js";
import { InvalidPodSpecError } from "../build/invalid-pod-spec.js";
import type { BuildPodOptions, PodConfig } from "../build/pod-config.js";
import type { OnePodConfig } from "../one-pod/one-pod-config.js";
import type { Pod } from "../pod-types.js";
import { asRetryLater } from "./create-error.js";
import { createAttemptObject } from "./create-object.js";
import type { UnsettledCreations } from "./unsettled-creations.js";
import { ensurePrerequisites, type PrerequisiteDeps } from "./pod-prerequisites.js";

export interface BuildDeps extends PrerequisiteDeps {
  readonly config: PodConfig;
}

export interface CreatePodDeps extends BuildDeps {
  readonly client: Pick<KubeClient, "get" | "create">;
  /** Tasks of operators that run as one pod each. Default: none. */
  readonly onePod?: OnePodConfig | undefined;
  readonly creations: Pick<UnsettledCreations, "track">;
}

/**
 * Creates the attempt's pod, or adopts the existing one.
 * @throws PermanentFailure, RetryableFailure, RetryLater
 */
export async function createPod(request: TaskRequest, deps: CreatePodDeps): Promise<Pod> {
  return createBuiltPod(await buildAttemptPod(request, deps), request, deps);
}

/**
 * Builds the attempt's pod, and writes the files that it reads.
 * @throws PermanentFailure, RetryLater
 */
export function buildAttemptPod(request: TaskRequest, deps: Omit<CreatePodDeps, "creations">): Promise<Pod> {
  return buildWithPrerequisites(request, deps, (prepared, options) => buildPod(prepared, { ...options, onePod: deps.onePod }));
}

/**
 * Creates the attempt's pod as it was built, or adopts the existing one.
 * @throws PermanentFailure, RetryableFailure, RetryLater
 */
export function createBuiltPod(pod: Pod, request: TaskRequest, { client, creations }: CreatePodDeps): Promise<Pod> {
  return createAttemptObject(pod, request, { client, creations, ref: PODS, kind: "Pod" });
}

/**
 * Writes the files that the attempt reads, fetches its PodTemplate and calls `build`: `buildPod`,
 * or a function that puts the result of `buildPodSpec` into the resource of an operator.
 * @throws PermanentFailure for an invalid task; RetryLater
 */
export async function buildWithPrerequisites<T>(
  request: TaskRequest,
  deps: BuildDeps,
  build: (request: TaskRequest, options: BuildPodOptions) => T,
): Promise<T> {
  try {
    const { inputs, ...options } = await ensurePrerequisites(request, deps);
    return build({ ...request, inputs }, { config: deps.config, ...options });
  } catch (error) {
    if (error instanceof InvalidPodSpecError || error instanceof TemplateError || error instanceof QuantityError) {
      throw new PermanentFailure({ code: "FailedToBuildResource", message: `could not build resource for task: ${error.message}` });
    }
    throw asRetryLater(error);
  }
}
