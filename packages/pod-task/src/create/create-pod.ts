import { QuantityError, TemplateError } from "@flyte-ts/domain";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { isAlreadyExists, type KubeClient, PODS } from "@flyte-ts/kubernetes";
import { RetryLater, PermanentFailure } from "@flyte-ts/task-plugin";
import { InvalidPodSpecError } from "../build/invalid-pod-spec.js";
import { buildPod, type PodConfig } from "../build/build-pod.js";
import { ensurePrerequisites, type PrerequisiteDeps } from "./pod-prerequisites.js";
import type { Pod } from "../pod-types.js";
import { ATTEMPT_ANNOTATION, encodeAttemptAnnotation } from "./attempt-annotation.js";
import { requireAttemptPod } from "./ownership.js";
import { asRetryLater, toCreateError } from "./create-error.js";

export interface CreatePodDeps extends PrerequisiteDeps {
  readonly client: Pick<KubeClient, "get" | "create">;
  readonly config: PodConfig;
}

/**
 * Creates the attempt's pod, or adopts the existing one.
 * @throws PermanentFailure, RetryableFailure, RetryLater
 */
export async function createPod(request: TaskRequest, deps: CreatePodDeps): Promise<Pod> {
  const pod = await buildAttemptPod(request, deps);
  try {
    return await deps.client.create<Pod>(PODS, pod);
  } catch (error) {
    if (!isAlreadyExists(error)) throw toCreateError(error);
  }
  return adoptExisting(request, deps.client);
}

async function buildAttemptPod(request: TaskRequest, deps: CreatePodDeps): Promise<Pod> {
  try {
    const { inputs, ...options } = await ensurePrerequisites(request, deps);
    const pod = buildPod({ ...request, inputs }, { config: deps.config, ...options });
    const annotations = { ...pod.metadata.annotations, [ATTEMPT_ANNOTATION]: encodeAttemptAnnotation(request) };
    return { ...pod, metadata: { ...pod.metadata, annotations } };
  } catch (error) {
    if (error instanceof InvalidPodSpecError || error instanceof TemplateError || error instanceof QuantityError) {
      throw new PermanentFailure({ code: "FailedToBuildResource", message: `could not build resource for task: ${error.message}` });
    }
    throw asRetryLater(error);
  }
}

/** Returns the existing pod of that name, if an earlier try created it for this attempt. */
async function adoptExisting(request: TaskRequest, client: Pick<KubeClient, "get">): Promise<Pod> {
  const { namespace, generatedName: name } = request;
  const existing = await client.get<Pod>(PODS, { namespace, name }).catch((error: unknown) => {
    throw asRetryLater(error);
  });
  if (existing === undefined) throw new RetryLater(`waiting for the deletion of an older pod ${namespace}/${name}`);
  return requireAttemptPod(existing, request);
}
