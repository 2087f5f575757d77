import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { isAlreadyExists, type KubeClient, type KubeObject, type ResourceRef } from "@flyte-ts/kubernetes";
import { RetryLater } from "@flyte-ts/task-plugin";
import { annotateAttempt } from "./attempt-annotation.js";
import { asRetryLater, toCreateError } from "./create-error.js";
import { describeObject, requireAttemptObject } from "./ownership.js";
import type { UnsettledCreations } from "./unsettled-creations.js";

export interface CreateObjectOptions {
  readonly client: Pick<KubeClient, "get" | "create">;
  readonly ref: ResourceRef;
  /** Such as `Pod`. */
  readonly kind: string;
  readonly creations: Pick<UnsettledCreations, "track">;
  /** Fetch only the metadata of a created object; one that exists already is fetched completely. */
  readonly metadataOnly?: boolean;
}

/**
 * Creates the attempt's object with the annotation that identifies the attempt. If an object of its
 * name exists, adopts it when an earlier try created it for this attempt.
 * @throws PermanentFailure, RetryableFailure, RetryLater
 */
export function createAttemptObject<T extends KubeObject>(object: T, request: TaskRequest, options: CreateObjectOptions): Promise<T> {
  return options.creations.track(request, () => createOrAdopt(object, request, options));
}

async function createOrAdopt<T extends KubeObject>(
  object: T,
  request: TaskRequest,
  { client, ref, kind, metadataOnly = false }: CreateObjectOptions,
): Promise<T> {
  try {
    return await client.create<T>(ref, annotateAttempt(object, request), { metadataOnly });
  } catch (error) {
    if (!isAlreadyExists(error)) throw toCreateError(error);
  }
  const { namespace } = request;
  const { name } = object.metadata;
  const existing = await client.get<T>(ref, { namespace, name }).catch((error: unknown) => {
    throw asRetryLater(error);
  });
  if (existing === undefined) throw new RetryLater(`waiting for the deletion of an older ${describeObject(kind, request)}`);
  return requireAttemptObject(existing, request, kind);
}
