import { BoundedMap, type Time } from "@flyte-ts/async";
import { createInformer, type Informer, type InformerEvent, type KubeClient, PODS } from "@flyte-ts/kubernetes";
import { OPERATOR_JOB_LABEL, type Pod } from "@flyte-ts/pod-task";
import type { Logger } from "@flyte-ts/telemetry";
import { trimJobPod } from "./trim.js";

export interface PodCacheDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly logger: Logger;
  readonly clock: Pick<Time, "elapsed" | "sleep">;
  /** Called with `namespace/name` of a job whose pods have changed. */
  readonly onChange: (jobKey: string) => void;
}

/** Jobs whose failed pods are kept. */
const MAX_JOBS_WITH_FAILURES = 1_000;
/** Failed pods that are kept for a job: the last ones. */
const MAX_FAILURES = 8;

/** The pods of all jobs, by one watch on a label that pods of other tasks lack. */
export class PodCache {
  readonly #byJob = new Map<string, Map<string, Pod>>();
  readonly #failed = new BoundedMap<string, readonly Pod[]>(MAX_JOBS_WITH_FAILURES);
  #informer: Informer<Pod> | undefined;

  constructor(private readonly deps: PodCacheDeps) {}

  start(): void {
    const { client, logger, clock: time } = this.deps;
    const onEvent = (event: InformerEvent<Pod>) => this.#onEvent(event);
    this.#informer = createInformer<Pod>({
      client,
      ref: PODS,
      labelSelector: OPERATOR_JOB_LABEL,
      logger,
      time,
      transform: trimJobPod,
      onEvent,
    });
  }

  /** Resolves when the first list is complete; undefined before the start. */
  get synced(): Promise<void> | undefined {
    return this.#informer?.synced;
  }

  get isSynced(): boolean {
    return this.#informer?.lagMs() !== undefined;
  }

  /** Number of pods. */
  get size(): number {
    return this.#informer?.list().length ?? 0;
  }

  /** Pods of a job, in no order. */
  of(jobKey: string): readonly Pod[] {
    return [...(this.#byJob.get(jobKey)?.values() ?? [])];
  }

  /** Returns the job of a pod, by `namespace/name`; undefined for pods of others. */
  jobKeyOf(podKey: string): string | undefined {
    const pod = this.#informer?.get(podKey);
    return pod && jobKeyOf(pod);
  }

  /** Failed pods of a job that were deleted after their failure, in the order of the failures. */
  replacedOf(jobKey: string): readonly Pod[] {
    const existing = this.#byJob.get(jobKey);
    return (this.#failed.get(jobKey) ?? []).filter(({ metadata }) => existing?.get(metadata.name)?.metadata.uid !== metadata.uid);
  }

  async stop(): Promise<void> {
    await this.#informer?.stop();
  }

  #onEvent({ type, object }: InformerEvent<Pod>): void {
    const jobKey = jobKeyOf(object);
    if (jobKey === undefined) return;
    const { name } = object.metadata;
    const pods = this.#byJob.get(jobKey) ?? new Map<string, Pod>();
    if (type === "deleted") pods.delete(name);
    else pods.set(name, object);
    if (pods.size === 0) this.#byJob.delete(jobKey);
    else this.#byJob.set(jobKey, pods);
    if (type !== "deleted") this.#keepFailure(jobKey, object);
    this.deps.onChange(jobKey);
  }

  /** A pod that fails while it is being deleted says nothing about its job. */
  #keepFailure(jobKey: string, pod: Pod): void {
    if (pod.status?.phase !== "Failed" || pod.metadata.deletionTimestamp !== undefined) return;
    const others = (this.#failed.get(jobKey) ?? []).filter(({ metadata }) => metadata.uid !== pod.metadata.uid);
    this.#failed.set(jobKey, [...others, pod].slice(-MAX_FAILURES));
  }
}

function jobKeyOf({ metadata: { namespace = "", labels } }: Pod): string | undefined {
  const job = labels?.[OPERATOR_JOB_LABEL];
  return job === undefined ? undefined : `${namespace}/${job}`;
}
