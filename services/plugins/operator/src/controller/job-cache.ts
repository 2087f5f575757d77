import type { Time } from "@flyte-ts/async";
import { createInformer, type Informer, type InformerEvent, type KubeClient } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import type { Job, Operator } from "../operator.js";
import { type JobRef, jobKeyOf, refOf } from "./job-ref.js";
import { trimJob } from "./trim.js";

export interface JobCacheDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly logger: Logger;
  readonly clock: Time;
  readonly onEvent: (ref: JobRef, event: InformerEvent<Job>) => void;
  /** Called when the API does not know a watched kind. */
  readonly onMissing: () => void;
}

/**
 * Selects the resources of Flyte tasks. Those of other propellers match, but have no record of the
 * attempt.
 */
const JOB_SELECTOR = "execution-id,node-id";
/** Time for which a resource created here may be missing from the watch, ms. */
const WATCH_LAG_MS = 5_000;

/** The resources of all served kinds, by one watch each. */
export class JobCache {
  readonly #informers = new Map<Operator, Informer<Job>>();
  /** Resources that this process created and no watch has delivered yet. */
  readonly #created = new Map<string, { readonly ref: JobRef; readonly job: Job; readonly at: number }>();

  constructor(private readonly deps: JobCacheDeps) {}

  /**
   * Watches the kinds of these operators and no others. The resources of kinds that left count as
   * deleted: those of a definition that is gone are gone with it, and no watch tells it.
   */
  async watch(operators: readonly Operator[]): Promise<void> {
    const left = [...this.#informers].filter(([operator]) => !operators.includes(operator));
    for (const [operator] of left) this.#informers.delete(operator);
    for (const operator of operators) if (!this.#informers.has(operator)) this.#informers.set(operator, this.#createInformer(operator));
    await Promise.all(left.map(([, informer]) => informer.stop()));
    for (const [operator, informer] of left) this.#loseAll(operator, informer);
  }

  /**
   * Resolves when the first list of the kind is complete; undefined for a kind that is not watched.
   */
  synced(operator: Operator): Promise<void> | undefined {
    return this.#informers.get(operator)?.synced;
  }

  /** Kinds whose first list is not complete. */
  unsyncedKinds(): string[] {
    return [...this.#informers].filter(([, informer]) => informer.lagMs() === undefined).map(([{ kind }]) => kind);
  }

  get(ref: JobRef): Job | undefined {
    const watched = this.#informers.get(ref.operator)?.get(ref.jobKey);
    if (watched !== undefined) return watched;
    const created = this.#created.get(ref.key);
    return created !== undefined && this.deps.clock.now() - created.at < WATCH_LAG_MS ? created.job : undefined;
  }

  /** True while a resource that this process created has not appeared in its watch. */
  wasCreated({ key }: JobRef): boolean {
    return this.#created.has(key);
  }

  /** Remembers a resource until its watch delivers it. */
  remember(ref: JobRef, job: Job): void {
    if (this.#informers.get(ref.operator)?.get(ref.jobKey) === undefined)
      this.#created.set(ref.key, { ref, job: trimJob(job), at: this.deps.clock.now() });
  }

  forget({ key }: JobRef): void {
    this.#created.delete(key);
  }

  /** Watched kinds that have a job of this name. */
  refsOf(jobKey: string): JobRef[] {
    return [...this.#informers.keys()].map((operator) => refOf(operator, jobKey)).filter((ref) => this.get(ref) !== undefined);
  }

  list(): { readonly ref: JobRef; readonly job: Job }[] {
    const jobs = new Map([...this.#created.values()].map(({ ref, job }) => [ref.key, { ref, job }]));
    for (const [operator, informer] of this.#informers) {
      for (const job of informer.list()) {
        const ref = refOf(operator, jobKeyOf(job));
        jobs.set(ref.key, { ref, job });
      }
    }
    return [...jobs.values()];
  }

  /** Number of resources of each watched kind. */
  counts(): Map<string, number> {
    return new Map([...this.#informers].map(([{ kind }, informer]) => [kind, informer.list().length]));
  }

  async stop(): Promise<void> {
    const informers = [...this.#informers.values()];
    this.#informers.clear();
    await Promise.all(informers.map((informer) => informer.stop()));
  }

  #loseAll(operator: Operator, informer: Informer<Job>): void {
    const lost = new Map(informer.list().map((job) => [jobKeyOf(job), job] as const));
    for (const { ref, job } of this.#created.values()) if (ref.operator === operator) lost.set(ref.jobKey, job);
    for (const [key, job] of lost) {
      const ref = refOf(operator, key);
      this.#created.delete(ref.key);
      this.deps.onEvent(ref, { type: "deleted", key, object: job, previous: job });
    }
  }

  #createInformer(operator: Operator): Informer<Job> {
    const { client, logger, clock, onMissing } = this.deps;
    return createInformer<Job>({
      client,
      time: clock,
      ref: operator.ref,
      labelSelector: JOB_SELECTOR,
      logger,
      transform: trimJob,
      onMissing,
      onEvent: (event) => {
        const ref = refOf(operator, event.key);
        this.#created.delete(ref.key);
        this.deps.onEvent(ref, event);
      },
    });
  }
}
