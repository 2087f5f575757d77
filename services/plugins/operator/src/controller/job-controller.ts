import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { belongsToAttempt, isOwnedBy, objectMissingFailure, requireAttemptObject } from "@flyte-ts/pod-task";
import { FinishedAttempts, UnsettledCreations, type UnsettledCreationsDeps } from "@flyte-ts/pod-task/creations";
import {
  type Aborted,
  isTerminalStatus,
  type OwningWorkflow,
  PermanentFailure,
  type PluginHost,
  type TaskStatus,
  type TerminalStatus,
} from "@flyte-ts/task-plugin";
import { JOB_CREATED_STATE, type JobStatusDeps, JobStatusReader } from "../job/job-status-reader.js";
import type { Job, Operator } from "../operator.js";
import { AttemptRecords, wasSubmitted } from "./attempt-records.js";
import { ChangeWaiter } from "./change-waiter.js";
import { JobApi, type JobApiDeps } from "./job-api.js";
import { JobDeletion, type JobDeletionDeps } from "./job-deletion.js";
import { activePods, JobEnding } from "./job-ending.js";
import { JobReporter, type JobReporterDeps } from "./job-reporter.js";
import { type JobRef, nameOf, refOf, refOfRequest } from "./job-ref.js";
import { JobWatch, type JobWatchDeps } from "./job-watch.js";

export interface JobControllerDeps
  extends JobStatusDeps,
    Omit<JobApiDeps, "client" | "store" | "creations">,
    UnsettledCreationsDeps,
    Omit<JobWatchDeps, "client">,
    Pick<JobReporterDeps, "workers" | "reportEndedWithinMs">,
    Pick<JobDeletionDeps, "deletionTimeoutMs"> {
  readonly client: JobApiDeps["client"] & JobWatchDeps["client"];
}

const SUBMITTED = { phase: "QUEUED", reason: "task submitted to K8s", pluginState: JOB_CREATED_STATE } as const;

/**
 * Runs one resource of an operator per attempt and follows all with one watch per kind and one for
 * pods. State that must outlive the process is in Kubernetes: the resource's name derives from the
 * attempt, and its annotation identifies it.
 */
export class JobController {
  readonly watch: JobWatch;
  #host: PluginHost | undefined;
  #reporter: JobReporter | undefined;
  readonly #reader: JobStatusReader;
  readonly #api: JobApi;
  readonly #ending: JobEnding;
  readonly #deletion: JobDeletion;
  readonly #changes: ChangeWaiter;
  readonly #creations: UnsettledCreations;
  readonly #finished: FinishedAttempts<Job>;
  readonly #records: AttemptRecords;
  readonly #operators: ReadonlyMap<string, Operator>;

  constructor(private readonly deps: JobControllerDeps) {
    this.#operators = new Map(deps.operators.map((operator) => [operator.taskType, operator]));
    this.#reader = new JobStatusReader({ ...deps, warningOf: (uid) => this.watch.warningOf(uid) });
    const creations = new UnsettledCreations(deps);
    this.#creations = creations;
    const hasEnded = (job: Job, key: string) => !this.#mayRun(this.#refOfKey(key), job);
    this.#finished = new FinishedAttempts({ clock: deps.clock, creations, hasEnded });
    this.#records = new AttemptRecords(this.#finished);
    this.#api = new JobApi({ ...deps, creations });
    this.#changes = new ChangeWaiter(deps.clock);
    this.watch = new JobWatch(deps, {
      onJob: (ref, event) => {
        this.#changes.notify(ref.jobKey);
        this.#reporter?.onJob(ref, event);
      },
      onPods: (jobKey) => {
        this.#changes.notify(jobKey);
        for (const ref of this.#refsOf(jobKey)) this.#reporter?.onPods(ref);
      },
      onServed: async (served) => this.#host?.setTaskTypes(served.map(({ taskType }) => taskType)),
      isEnding: () => this.#ending.waitingCount > 0,
    });
    const { jobs } = this.watch;
    const shared = { api: this.#api, podsOf: (ref: JobRef) => this.watch.podsOf(ref) };
    this.#ending = new JobEnding({ ...shared, creations, jobOf: (ref) => jobs.get(ref) });
    this.#deletion = new JobDeletion({
      ...shared,
      changes: this.#changes,
      clock: deps.clock,
      logger: deps.logger,
      deletionTimeoutMs: deps.deletionTimeoutMs,
    });
  }

  /** Number of ended jobs whose end is not reported yet: their resources or pods still exist. */
  get endingCount(): number {
    return this.#ending.waitingCount;
  }

  async start(host: PluginHost): Promise<void> {
    this.#host = host;
    this.#creations.takeOver();
    this.#reporter = new JobReporter({
      ...this.deps,
      host,
      watch: this.watch,
      reader: this.#reader,
      ending: this.#ending,
      records: this.#records,
      finished: this.#finished,
      api: this.#api,
      refOfKey: (key) => this.#refOfKey(key),
    });
    await this.watch.start();
  }

  async stop(): Promise<void> {
    await this.watch.stop();
    await this.#reporter?.stop();
  }

  async reconcile(request: TaskRequest): Promise<TaskStatus> {
    const ref = this.#refOf(request);
    await this.watch.waitForSync(ref.operator);
    const { job, created } = await this.#findOrCreate(ref, request);
    this.#records.add(ref, job, request);
    if (created) return SUBMITTED;
    return (await this.#reporter?.statusOf(ref, job, request)) ?? SUBMITTED;
  }

  /** Reads the resource from Kubernetes itself: the cache may lag behind a creation. */
  async abort(request: TaskRequest): Promise<Aborted | TerminalStatus> {
    const ref = this.#refOf(request);
    this.#records.finish(ref, request);
    this.#reporter?.cancel(ref);
    const job = await this.#api.get(ref);
    if (job === undefined || !belongsToAttempt(job, request)) {
      if (job === undefined) await this.#deletion.waitForPods(ref);
      this.#creations.requireSettled(request);
      if (!wasSubmitted(request)) this.#creations.requireEarlierSettled();
      return { phase: "ABORTED" };
    }
    // An abort may contain only the attempt's names; the resource's own record has the URIs of its
    // outputs.
    const known = this.#records.requestOf(ref, job) ?? request;
    const observed = { operator: ref.operator, job, pods: this.watch.podsOf(ref), replaced: this.watch.replacedPodsOf(ref) };
    const reading = job.metadata.deletionTimestamp === undefined ? await this.#reader.read(observed, known) : undefined;
    const terminal = reading?.kind === "ended" && isTerminalStatus(reading.status) ? reading.status : undefined;
    // The end is read again from a job that still exists.
    if (terminal !== undefined) this.#creations.requireSettled(request);
    await this.#deletion.deleteAndWait(ref, job.metadata.uid);
    this.#creations.requireSettled(request);
    this.#ending.forget(ref);
    return terminal ?? { phase: "ABORTED" };
  }

  /**
   * Lists attempts whose resources the workflow owns, by its uid: labels and names can be forged.
   */
  async listAttempts({ workflowKey, owner }: OwningWorkflow): Promise<readonly TaskRequest[]> {
    await Promise.all(this.watch.served.map((operator) => this.watch.waitForSync(operator)));
    const attempts = this.watch.jobs
      .list()
      .filter(({ ref, job }) => isOwnedBy(job, owner) && this.#mayRun(ref, job))
      .map(({ ref, job }) => ({ ...this.#records.requestToStop(ref, job, workflowKey), owner }));
    return this.#creations.addAttempts(attempts, owner);
  }

  async finalize(request: TaskRequest): Promise<void> {
    if (!this.#operators.has(request.template?.type ?? "")) return;
    const ref = this.#refOf(request);
    this.#records.finish(ref, request);
    this.#reporter?.cancel(ref);
    this.#ending.forget(ref);
    if (request.deleteResources && this.#creations.earlierMayTakeEffect) await this.watch.waitForSync(ref.operator);
    const known = this.watch.jobs.get(ref);
    this.watch.jobs.forget(ref);
    if (!request.deleteResources || (known !== undefined && !belongsToAttempt(known, request))) return;
    // Until then the ended job prevents another of its name.
    this.#creations.requireSettled(request);
    const dueAtMs = this.#finished.deferDeletion(ref.key, known);
    if (dueAtMs === undefined) await this.#api.delete(ref, known?.metadata.uid);
    else this.#reporter?.reportAt(ref, dueAtMs);
  }

  async #findOrCreate(ref: JobRef, request: TaskRequest): Promise<{ readonly job: Job; readonly created: boolean }> {
    const { operator } = ref;
    const known = this.watch.jobs.get(ref);
    if (known !== undefined) return { job: requireAttemptObject(known, request, operator.kind), created: false };
    if (this.watch.jobs.wasCreated(ref) || this.#records.lostJob(ref) !== undefined || wasSubmitted(request)) {
      const current = await this.#api.get(ref);
      if (current === undefined) throw this.#creations.failureOf(request, objectMissingFailure(operator.ref.plural, nameOf(ref)));
      return { job: requireAttemptObject(current, request, operator.kind), created: false };
    }
    const create = async () => {
      const job = await this.#api.create(ref, request);
      this.watch.jobs.remember(ref, job);
      return { job, created: true };
    };
    return this.#reporter === undefined ? create() : this.#reporter.whileCreating(ref, create);
  }

  #mayRun(ref: JobRef, job: Job): boolean {
    return ref.operator.status(job, []).kind === "progress" || activePods(this.watch.podsOf(ref)).length > 0;
  }

  /**
   * Returns the jobs of this name: existing ones, those being ended, and those deleted before their
   * end was reported.
   */
  #refsOf(jobKey: string): JobRef[] {
    return this.deps.operators
      .map((operator) => refOf(operator, jobKey))
      .filter((ref) => this.watch.jobs.get(ref) !== undefined || this.#ending.has(ref) || this.#records.lostJob(ref) !== undefined);
  }

  #refOf(request: TaskRequest): JobRef {
    const type = request.template?.type ?? "";
    const operator = this.#operators.get(type);
    if (operator !== undefined) return refOfRequest(operator, request);
    throw new PermanentFailure({ code: "BadTaskSpecification", kind: "SYSTEM", message: `no operator runs tasks of type ${type}` });
  }

  #refOfKey(key: string): JobRef {
    const [taskType = "", jobKey = ""] = key.split(" ");
    const operator = this.#operators.get(taskType);
    if (operator === undefined) throw new Error(`no operator for ${key}`);
    return refOf(operator, jobKey);
  }
}
