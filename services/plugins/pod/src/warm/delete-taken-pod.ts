import { isConflict, type KubeClient, PODS } from "@flyte-ts/kubernetes";
import { asRetryLater, type Pod } from "@flyte-ts/pod-task";
import { RetryLater } from "@flyte-ts/task-plugin";

export interface DeleteTakenPodDeps {
  readonly client: Pick<KubeClient, "delete">;
  readonly gracePeriodSeconds: number | undefined;
  /** Reads the pod; undefined when it no longer serves the attempt. */
  readonly read: () => Promise<Pod | undefined>;
}

/** Maximum of attempts to delete a pod that others change. */
const MAX_CONFLICTS = 5;

/**
 * Deletes a warm pod in a version in which it serves the attempt, and no later one. Resolves to
 * false when it serves the attempt no longer.
 *
 * @throws RetryLater when the API server fails, or the pod changes all the time
 */
export async function deleteTakenPod({ client, gracePeriodSeconds, read }: DeleteTakenPodDeps, attempt: string): Promise<boolean> {
  for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
    const pod = await read();
    if (pod === undefined) return false;
    const { namespace = "", name, uid, resourceVersion } = pod.metadata;
    try {
      return await client.delete(PODS, { namespace, name, gracePeriodSeconds, uid, resourceVersion });
    } catch (error) {
      if (!isConflict(error)) throw asRetryLater(error);
    }
  }
  throw new RetryLater(`the pod of ${attempt} changes all the time`);
}
