import { BoundedMap, type Time } from "@flyte-ts/async";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import {
  type Aborted,
  attemptKey,
  isTerminalStatus,
  type OwningWorkflow,
  type PluginHost,
  RetryLater,
  type TaskStatus,
  type TerminalStatus,
} from "@flyte-ts/task-plugin";
import type { Logger } from "@flyte-ts/telemetry";
import type { Routes } from "../discovery/routes.js";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { DataStore } from "../result/read-result.js";
import { isOwnedBy, recordedAttempt } from "@flyte-ts/task-plugin/files";
import { type CreatedTask, decodeState, type RecordedTask } from "../record/created-task.js";
import { type CreationRecords, creationRecords } from "../record/creation-record.js";
import { LiveAttempt } from "./live-attempt.js";
import { adopt, pollTask } from "../step/poll-task.js";
import { ServedTypes } from "./served-types.js";
import { startTask } from "../step/start-task.js";
import { resultOfError, waitAgain } from "../step/step-failure.js";
import { StepTimer } from "./step-timer.js";
import type { StepConfig, StepContext, StepResult } from "../step/step.js";
import { type StopConfig, stopTask, type StopTries } from "../step/stop-task.js";
import { WaitingAttempts } from "./waiting-attempts.js";

export interface ConnectorControllerDeps {
  readonly endpoints: readonly Endpoint[];
  readonly store: DataStore;
  readonly clock: Time;
  readonly random: () => number;
  readonly logger: Logger;
  readonly routes: () => Routes;
  readonly refreshRoutes: () => Promise<void>;
  /** Called for an ended task whose job may still run. */
  readonly onAbandoned?: ((taskType: string) => void) | undefined;
  readonly config: StepConfig & { readonly stop: StopConfig };
}

/** Time for which a request waits for the first step, so that one event reports a quick one, ms. */
const HOLD_MS = 1_000;
/** Time for which calls in progress may end when the service stops, ms. */
const DRAIN_MS = 20_000;
const MAX_STOP_TRIES = 10_000;

/**
 * Runs attempts in steps. A step is a short piece of work, such as one GetTask, and returns the
 * delay before the next one. Requests only add attempts and never wait long for a connector.
 */
export class ConnectorController {
  readonly #live = new Map<string, LiveAttempt>();
  readonly #waiting = new WaitingAttempts();
  readonly #timer: StepTimer<LiveAttempt>;
  /** Ends the waits of all requests at their times, with one timer. */
  readonly #waits: StepTimer<() => void>;
  readonly #records: CreationRecords;
  readonly #context: StepContext;
  readonly #stopTries = new BoundedMap<string, StopTries>(MAX_STOP_TRIES);
  readonly #served: ServedTypes;
  #host: PluginHost | undefined;

  constructor(private readonly deps: ConnectorControllerDeps) {
    const { endpoints, clock, store } = deps;
    this.#records = creationRecords(store);
    this.#timer = new StepTimer(clock, (attempt) => this.#run(attempt));
    this.#waits = new StepTimer(clock, (endWait) => endWait());
    this.#served = new ServedTypes(deps.logger);
    this.#context = {
      ...deps,
      records: this.#records,
      endpoints: new Map(endpoints.map((endpoint) => [endpoint.name, endpoint])),
      show: (attempt, status) => {
        attempt.status = status;
        if (!attempt.isHeld) void this.#publish(attempt);
      },
    };
  }

  /** Number of attempts in progress. */
  get liveCount(): number {
    return this.#live.size;
  }

  waitingAt(endpoint: Endpoint): number {
    return this.#waiting.countAt(endpoint);
  }

  start(host: PluginHost): void {
    this.#host = host;
    this.#served.start(host, this.deps.routes());
  }

  /** Announces the task types of new routes, and starts attempts of those that have changed. */
  onRoutes(routes: Routes, changed: ReadonlySet<string>): void {
    this.#served.onRoutes(routes);
    for (const attempt of this.#waiting.ofTypes(changed)) this.#timer.set(attempt, 0);
  }

  /** Starts the attempts that waited for the endpoint to answer. */
  onEndpointBack(endpoint: Endpoint): void {
    for (const attempt of this.#waiting.forAnswerOf(endpoint)) this.#timer.set(attempt, 0);
  }

  /** Lets calls in progress end; a synchronous task is cut off after {@link DRAIN_MS}. */
  async stop(): Promise<void> {
    this.#timer.stop();
    const drained = Promise.allSettled([...this.#live.values()].map(({ running }) => running));
    await this.#orAfter(drained, DRAIN_MS);
    for (const attempt of this.#live.values()) attempt.stopping.abort();
    this.#waits.stop();
  }

  async reconcile(request: TaskRequest): Promise<TaskStatus> {
    const known = this.#live.get(attemptKey(request));
    if (known !== undefined) return known.status;
    const attempt = new LiveAttempt(request);
    this.#live.set(attempt.key, attempt);
    this.#served.onBegin(attempt.taskType);
    this.#run(attempt);
    await this.#orAfter(attempt.running, HOLD_MS);
    attempt.isHeld = false;
    return attempt.status;
  }

  async abort(request: TaskRequest): Promise<Aborted | TerminalStatus> {
    const key = attemptKey(request);
    const live = this.#live.get(key);
    if (live !== undefined) {
      live.stopping.abort();
      this.#timer.delete(live);
      this.#waiting.delete(live);
      await live.running;
      if (isTerminalStatus(live.status)) {
        this.#remove(live);
        return live.status;
      }
    }
    const status = await this.#stop(request, live);
    if (live !== undefined) this.#remove(live);
    this.#stopTries.delete(key);
    return status;
  }

  /** Lists attempts in progress, and those whose records are below the folder of the execution. */
  async listAttempts(workflow: OwningWorkflow): Promise<readonly TaskRequest[]> {
    const requests = [...this.#live.values()].filter((attempt) => isOwnedBy(attempt, workflow)).map(({ request }) => request);
    const known = new Set(requests.map(({ outputPrefix }) => outputPrefix));
    return [...requests, ...(await this.#records.listRunning(workflow, known))];
  }

  /**
   * Stops a job that the attempt left behind, and deletes the record of the creation, in which an
   * id of the connector may hold credentials.
   */
  async finalize(request: TaskRequest): Promise<void> {
    const { outputPrefix, deleteResources } = request;
    if (outputPrefix === "") return;
    const { task, isLost = false } = (await orRetryLater(() => this.#records.read(request))) ?? {};
    if (isLost && typeof task === "object") await this.#stopLost(request, task);
    if (deleteResources) await orRetryLater(() => this.#records.delete(outputPrefix));
  }

  #run(attempt: LiveAttempt): void {
    attempt.running = this.#advance(attempt);
  }

  /** Never rejects. */
  async #advance(attempt: LiveAttempt): Promise<void> {
    this.#waiting.delete(attempt);
    const result = await this.#recordLost(attempt, await this.#step(attempt));
    if (attempt.isStopping) return;
    attempt.status = askingForCleanup(result.status);
    if (result.againInMs === undefined) await this.#recordEnd(attempt);
    if (!attempt.isHeld) await this.#publish(attempt);
    if (attempt.isStopping) return;
    if (result.againInMs === undefined) {
      this.#remove(attempt);
      return;
    }
    if (result.waitsFor !== undefined) this.#waiting.add(attempt, result.waitsFor);
    this.#timer.set(attempt, result.againInMs);
  }

  /** Records a job that an end leaves behind, which the finalization stops, or delays the end. */
  async #recordLost(attempt: LiveAttempt, end: StepResult): Promise<StepResult> {
    const { request, ownerUid, created, source, isStopping } = attempt;
    if (end.leavesJob !== true || created === undefined || isStopping) return end;
    try {
      await this.#records.write(source.outputPrefix, { task: created, attempt: recordedAttempt(request, ownerUid), isLost: true });
      return end;
    } catch (error) {
      return waitAgain(attempt, `the job that may still run cannot be recorded: ${String(error)}`, this.#context);
    }
  }

  /**
   * Records that nothing runs, of a task that has no id: the abort of its workflow would report a
   * job that may exist.
   */
  async #recordEnd(attempt: LiveAttempt): Promise<void> {
    const { request, ownerUid, hasBegun, created, isCreationUnknown, source } = attempt;
    if (!hasBegun || created !== undefined || isCreationUnknown) return;
    try {
      await this.#records.write(source.outputPrefix, { task: "ended", attempt: recordedAttempt(request, ownerUid) });
    } catch (error) {
      this.deps.logger.warn(
        { attempt: attempt.key, error: String(error) },
        "the end of a task cannot be recorded; an abort of its workflow may name it as a job that still runs",
      );
    }
  }

  async #step(attempt: LiveAttempt): Promise<StepResult> {
    const context = this.#context;
    try {
      if (attempt.created !== undefined) return await pollTask(attempt, attempt.created, context);
      const stored = await this.#taskOfState(attempt.request);
      return await (typeof stored === "object" ? adopt(attempt, stored, context) : startTask(attempt, context));
    } catch (error) {
      return resultOfError(attempt, error, context);
    }
  }

  async #taskOfState(request: TaskRequest): Promise<RecordedTask | undefined> {
    const state = decodeState(request.pluginState);
    return state === "inRecord" ? this.#recordedTask(request) : state;
  }

  async #recordedTask(request: TaskRequest): Promise<RecordedTask | undefined> {
    return (await this.#records.read(request))?.task;
  }

  async #publish(attempt: LiveAttempt): Promise<void> {
    try {
      await this.#host?.publishStatus(attempt.request, attempt.status);
    } catch (error) {
      this.deps.logger.warn(
        { attempt: attempt.key, error: String(error) },
        "the status of an attempt cannot be reported; propeller will ask again",
      );
    }
  }

  async #stop(request: TaskRequest, live: LiveAttempt | undefined): Promise<Aborted> {
    const { outputPrefix } = request;
    const recordStop = async (status: Aborted): Promise<Aborted> => {
      if (status.reason !== undefined) this.#warnOfAbandoned(request, status.reason);
      const stopped = { task: "stopped" as const, attempt: recordedAttempt(request, live?.ownerUid ?? request.owner?.uid ?? "") };
      if (outputPrefix !== "") await orRetryLater(() => this.#records.write(outputPrefix, stopped));
      return status;
    };
    if (live?.created === undefined && live?.hasBegun === true && !live.isCreationUnknown) return recordStop({ phase: "ABORTED" });
    const task = live?.created ?? (await this.#storedTask(request));
    if (task === undefined || task === "stopped" || task === "ended") return { phase: "ABORTED" };
    if (task === "begun") {
      const reason = "aborted while the task was being created; its connector may have created a job whose id is unknown";
      return recordStop({ phase: "ABORTED", reason });
    }
    return recordStop(await this.#stopTask(request, task, { mayHaveEnded: live?.created === undefined }));
  }

  /** @throws RetryLater while the connector does not answer */
  async #stopLost(request: TaskRequest, task: CreatedTask): Promise<void> {
    const { reason } = await this.#stopTask(request, task, { mayHaveEnded: true });
    this.#stopTries.delete(attemptKey(request));
    if (reason !== undefined) this.#warnOfAbandoned(request, reason);
  }

  #stopTask(request: TaskRequest, task: CreatedTask, { mayHaveEnded }: { readonly mayHaveEnded: boolean }): Promise<Aborted> {
    const { clock, config } = this.deps;
    const { outputPrefix } = request;
    const key = attemptKey(request);
    const tries = this.#stopTries.get(key) ?? { sinceMs: clock.elapsed(), errors: 0 };
    this.#stopTries.set(key, tries);
    const endpoint = this.#context.endpoints.get(task.endpoint);
    return stopTask({ task, endpoint, outputPrefix, tries, mayHaveEnded, config: config.stop, clock });
  }

  /** Only people can find and stop what the connector did not. */
  #warnOfAbandoned(request: TaskRequest, reason: string): void {
    const { logger, onAbandoned } = this.deps;
    const taskType = request.template?.type ?? "";
    logger.warn(
      { attempt: attemptKey(request), taskType, reason },
      "the job of an ended task may still run and cost money: check it in the service that the connector uses",
    );
    onAbandoned?.(taskType);
  }

  /** Returns the task that an earlier process created for the attempt, if any. */
  async #storedTask(request: TaskRequest): Promise<RecordedTask | undefined> {
    return orRetryLater(async () => {
      const task = await this.#taskOfState(request);
      return task ?? (request.outputPrefix === "" ? undefined : this.#recordedTask(request));
    });
  }

  #remove(attempt: LiveAttempt): void {
    if (this.#live.get(attempt.key) !== attempt) return;
    this.#live.delete(attempt.key);
    this.#waiting.delete(attempt);
    this.#timer.delete(attempt);
    const { slot } = attempt;
    attempt.releaseSlot();
    this.#served.onEnd(attempt.taskType);
    const next = slot === undefined ? undefined : this.#waiting.nextAt(slot);
    if (next !== undefined) this.#timer.set(next, 0);
  }

  /** Waits until `work` settles or `ms` have passed. */
  async #orAfter(work: Promise<unknown>, ms: number): Promise<void> {
    let endWait: () => void = () => undefined;
    const timeout = new Promise<void>((resolve) => {
      endWait = resolve;
    });
    this.#waits.set(endWait, ms);
    await Promise.race([work, timeout]);
    this.#waits.delete(endWait);
  }
}

/** An end asks for the finalization, which releases what the attempt keeps. */
function askingForCleanup(status: TaskStatus): TaskStatus {
  return status.phase === "SUCCEEDED" || status.phase === "FAILED" ? { ...status, cleanup: true } : status;
}

async function orRetryLater<T>(access: () => Promise<T>): Promise<T> {
  try {
    return await access();
  } catch (error) {
    if (!(error instanceof BlobUnavailableError)) throw error;
    throw new RetryLater(`the record of the task cannot be reached: ${error.message}`, { cause: error });
  }
}
