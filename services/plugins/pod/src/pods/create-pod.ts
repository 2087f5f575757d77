import { QuantityError, TemplateError } from "@flyte-ts/domain";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { isAlreadyExists, type KubeClient, PODS } from "@flyte-ts/kubernetes";
import { NotYet, PermanentFailure } from "@flyte-ts/task-plugin";
import { BadSpecification } from "../build/bad-specification.js";
import { buildPod, type PodConfig } from "../build/build-pod.js";
import { prepare, type PrepareParts } from "../build/prepare.js";
import type { Pod } from "../kube/pod-types.js";
import { ATTEMPT_ANNOTATION, encodeAttempt } from "./attempt-record.js";
import { ownPod } from "./ownership.js";
import { orNotYet, refusal } from "./refusal.js";

export interface CreatePodParts extends PrepareParts {
  readonly client: Pick<KubeClient, "get" | "create">;
  readonly config: PodConfig;
}

/**
 * Creates the attempt's pod, or adopts the existing one.
 * @throws PermanentFailure, RetryableFailure, NotYet
 */
export async function createPod(request: TaskRequest, parts: CreatePodParts): Promise<Pod> {
  const pod = await made(request, parts);
  try {
    return await parts.client.create<Pod>(PODS, pod);
  } catch (error) {
    if (!isAlreadyExists(error)) throw refusal(error);
  }
  return adopt(request, parts.client);
}

async function made(request: TaskRequest, parts: CreatePodParts): Promise<Pod> {
  try {
    const { inputs, ...options } = await prepare(request, parts);
    const pod = buildPod({ ...request, inputs }, { config: parts.config, ...options });
    const annotations = { ...pod.metadata.annotations, [ATTEMPT_ANNOTATION]: encodeAttempt(request) };
    return { ...pod, metadata: { ...pod.metadata, annotations } };
  } catch (error) {
    if (error instanceof BadSpecification || error instanceof TemplateError || error instanceof QuantityError) {
      throw new PermanentFailure({ code: "FailedToBuildResource", message: `could not build resource for task: ${error.message}` });
    }
    throw orNotYet(error);
  }
}

/** Returns the existing pod of that name, if an earlier try created it for this attempt. */
async function adopt(request: TaskRequest, client: Pick<KubeClient, "get">): Promise<Pod> {
  const { namespace, generatedName: name } = request;
  const found = await client.get<Pod>(PODS, { namespace, name }).catch((error: unknown) => {
    throw orNotYet(error);
  });
  if (found === undefined) throw new NotYet(`an older pod ${namespace}/${name} is going away`);
  return ownPod(found, request);
}
