import { resolvesWithin, type Time } from "@flyte-ts/async";
import type { InformerEvent, KubeApplier, KubeClient } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { type InvolvedObject, WarningEvents } from "@flyte-ts/pod-task/warnings";
import type { Logger } from "@flyte-ts/telemetry";
import { kubeUnavailable } from "@flyte-ts/pod-task";
import { RetryLater } from "@flyte-ts/task-plugin";
import type { Job, Operator } from "../operator.js";
import { JobCache } from "./job-cache.js";
import type { JobRef } from "./job-ref.js";
import { PodCache } from "./pod-cache.js";
import { ServedOperators } from "./served-operators.js";

/** Maximum wait for the first lists before a request is requeued, ms. */
const SYNC_WAIT_MS = 5_000;

export interface JobWatchDeps {
  readonly client: Pick<KubeClient, "list" | "watch"> & Pick<KubeApplier, "findResource">;
  readonly operators: readonly Operator[];
  readonly logger: Logger;
  readonly clock: Time;
  /** Time between two checks of which kinds the cluster serves, ms. */
  readonly discoveryIntervalMs: number;
  /** Follow Kubernetes' warnings about jobs and their pods. */
  readonly warningEvents: boolean;
}

export interface JobWatchHandlers {
  readonly onJob: (ref: JobRef, event: InformerEvent<Job>) => void;
  readonly onPods: (jobKey: string) => void;
  /** Receives the operators whose requests are received. */
  readonly onServed: (operators: readonly Operator[]) => Promise<void>;
  /** True while the end of a job is not reported yet. */
  readonly isEnding: () => boolean;
}

/**
 * Time for which requests of a kind that is gone are still received, ms: propeller may stop
 * attempts whose jobs went with it.
 */
const LEAVE_MS = 60_000;

/** Follows the resources of all kinds that the cluster serves, and the pods below them. */
export class JobWatch {
  readonly jobs: JobCache;
  readonly #pods: PodCache;
  readonly #served: ServedOperators;
  /** Kinds that are gone and whose requests are still received, with what cancels their end. */
  readonly #leaving = new Map<Operator, () => void>();
  #warnings: WarningEvents | undefined;

  constructor(
    private readonly deps: JobWatchDeps,
    private readonly handlers: JobWatchHandlers,
  ) {
    const { client, operators, logger, clock, discoveryIntervalMs: intervalMs } = deps;
    const { onJob, onPods } = handlers;
    this.jobs = new JobCache({ client, logger, clock, onEvent: onJob, onMissing: () => this.#served.onMissing() });
    this.#pods = new PodCache({ client, logger, clock, onChange: onPods });
    const onChange = (served: readonly Operator[]) => this.#onChange(served);
    this.#served = new ServedOperators({ client, operators, clock, logger, intervalMs, onChange });
  }

  /** Kinds that the cluster serves now. */
  get served(): readonly Operator[] {
    return this.#served.served;
  }

  get podCount(): number {
    return this.#pods.size;
  }

  start(): Promise<void> {
    this.#pods.start();
    const { client, logger, clock, warningEvents } = this.deps;
    if (warningEvents) this.#warnings = new WarningEvents({ client, logger, clock, onWarning: (object) => this.#onWarning(object) });
    return this.#served.start();
  }

  async stop(): Promise<void> {
    this.#served.stop();
    for (const cancel of this.#leaving.values()) cancel();
    await Promise.all([this.jobs.stop(), this.#pods.stop(), this.#warnings?.stop()]);
  }

  podsOf({ jobKey }: JobRef): readonly Pod[] {
    return this.#pods.of(jobKey);
  }

  /** Returns Kubernetes' latest warning about a job or a pod. */
  warningOf(uid: string | undefined): string | undefined {
    return this.#warnings?.of(uid);
  }

  /** Failed pods of a job that its operator has deleted, in the order of the failures. */
  replacedPodsOf({ jobKey }: JobRef): readonly Pod[] {
    return this.#pods.replacedOf(jobKey);
  }

  /** Reason why jobs cannot be followed now. */
  notReadyReason(): string | undefined {
    if (!this.#pods.isSynced) return "the first list of pods is not complete";
    const kinds = this.jobs.unsyncedKinds();
    return kinds.length === 0 ? undefined : `the first list is not complete of ${kinds.join(", ")}`;
  }

  /**
   * Waits until the resources of a kind and all pods are known.
   *
   * @throws RetryLater
   */
  async waitForSync(operator: Operator): Promise<void> {
    const jobs = this.jobs.synced(operator);
    if (jobs === undefined) throw new RetryLater(`the cluster does not serve ${operator.kind} (${operator.apiVersion})`);
    if (!(await resolvesWithin(Promise.all([jobs, this.#pods.synced]), SYNC_WAIT_MS, this.deps.clock)))
      throw kubeUnavailable(`the first list of ${operator.kind} or of pods is not complete`);
  }

  async #onChange(served: readonly Operator[]): Promise<void> {
    for (const operator of this.served) if (!served.includes(operator)) this.#leaveLater(operator);
    for (const operator of served) this.#stay(operator);
    await this.jobs.watch(served);
    await this.#announce(served);
  }

  #stay(operator: Operator): void {
    this.#leaving.get(operator)?.();
    this.#leaving.delete(operator);
  }

  #leaveLater(operator: Operator): void {
    const { clock } = this.deps;
    this.#leaving.set(
      operator,
      clock.schedule(LEAVE_MS, () => {
        this.#leaving.delete(operator);
        if (this.handlers.isEnding()) this.#leaveLater(operator);
        else void this.#leave();
      }),
    );
  }

  async #leave(): Promise<void> {
    try {
      await this.#announce(this.served);
    } catch (error) {
      this.deps.logger.warn({ error: String(error) }, "cannot end the subscription of a kind that is gone");
    }
  }

  async #announce(served: readonly Operator[]): Promise<void> {
    await this.handlers.onServed([...served, ...this.#leaving.keys()]);
  }

  /** Treats a warning as a change of the job's pods; objects of others belong to no job. */
  #onWarning({ kind, namespace = "", name = "" }: InvolvedObject): void {
    const key = `${namespace}/${name}`;
    const jobKey = kind === "Pod" ? this.#pods.jobKeyOf(key) : key;
    if (jobKey !== undefined) this.handlers.onPods(jobKey);
  }
}
