import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { isNotFound, type KubeClient, PODS, type ResourceRef } from "@flyte-ts/kubernetes";
import {
  asRetryLater,
  type BuildPodOptions,
  buildWithPrerequisites,
  createAttemptObject,
  type DataStore,
  type Pod,
} from "@flyte-ts/pod-task";
import type { UnsettledCreations } from "@flyte-ts/pod-task/creations";
import { buildJob } from "../job/build-job.js";
import type { Job } from "../operator.js";
import { type JobRef, nameOf } from "./job-ref.js";

export interface JobApiDeps {
  readonly client: Pick<KubeClient, "get" | "create" | "delete">;
  readonly store: DataStore;
  readonly config: BuildPodOptions["config"];
  readonly defaultPodTemplate: string;
  readonly templateNamespace: string;
  /** Seconds between SIGTERM and SIGKILL for pods left over by an ended job. */
  readonly terminationGraceSeconds: number;
  readonly creations: Pick<UnsettledCreations, "track">;
}

/**
 * Calls to the Kubernetes API for jobs. Every method rejects with RetryLater while it is
 * unavailable. A job whose type the server does not have does not exist: an operator may have been
 * uninstalled.
 */
export class JobApi {
  constructor(private readonly deps: JobApiDeps) {}

  async get(ref: JobRef): Promise<Job | undefined> {
    try {
      return await this.deps.client.get<Job>(ref.operator.ref, nameOf(ref));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw asRetryLater(error);
    }
  }

  /**
   * Creates the attempt's resource, or adopts the existing one.
   *
   * @throws PermanentFailure, RetryableFailure, RetryLater
   */
  async create({ operator }: JobRef, request: TaskRequest): Promise<Job> {
    const job = await buildWithPrerequisites(request, this.deps, (complete, options) => buildJob(operator, complete, options));
    const { client, creations } = this.deps;
    return createAttemptObject<Job>(job, request, { client, creations, ref: operator.ref, kind: operator.kind, metadataOnly: true });
  }

  /**
   * Deletes the resource after the objects below it (foreground), so that it exists as long as they
   * do. False when it does not exist.
   */
  async delete(ref: JobRef, uid: string | undefined): Promise<boolean> {
    try {
      return await this.deps.client.delete(ref.operator.ref, { ...nameOf(ref), propagation: "Foreground", uid });
    } catch (error) {
      if (isNotFound(error)) return false;
      throw asRetryLater(error);
    }
  }

  /** Deletes a resource of the job. False when it does not exist. */
  async deletePart(ref: JobRef, { ref: part, name }: { readonly ref: ResourceRef; readonly name: string }): Promise<boolean> {
    try {
      return await this.deps.client.delete(part, { namespace: nameOf(ref).namespace, name });
    } catch (error) {
      if (isNotFound(error)) return false;
      throw asRetryLater(error);
    }
  }

  /** Deletes pods; those that are gone already are no error. */
  async deletePods(pods: readonly Pod[]): Promise<void> {
    const { client, terminationGraceSeconds: gracePeriodSeconds } = this.deps;
    try {
      await Promise.all(
        pods.map(({ metadata: { namespace, name, uid } }) => client.delete(PODS, { namespace, name, uid, gracePeriodSeconds })),
      );
    } catch (error) {
      throw asRetryLater(error);
    }
  }
}
