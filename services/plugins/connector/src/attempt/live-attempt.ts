import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptKey, eventFields, type Progress, type ProgressPhase, type TaskStatus } from "@flyte-ts/task-plugin";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { ResultSource } from "../result/task-result.js";
import { type CreatedTask, encodeState } from "../record/created-task.js";

/** An attempt that this process takes to its end. */
export class LiveAttempt {
  readonly key: string;
  readonly taskType: string;
  readonly version: number;
  readonly project: string;
  readonly ownerUid: string;
  readonly source: ResultSource;
  /** Aborted when the attempt is to stop. */
  readonly stopping = new AbortController();
  /** The whole request until the task is created, then the part that events need. */
  request: TaskRequest;
  status: TaskStatus;
  /** This process wrote the creation record. */
  hasBegun = false;
  /** CreateTask or ExecuteTaskSync ended without a known result. */
  isCreationUnknown = false;
  /** Number of GetTask calls since the creation, or since a restart. */
  polls = 0;
  /** Errors of GetTask in a row. */
  errors = 0;
  /**
   * Number of tries in a row without an answer; the time of the first, ms, and its reason: users
   * see one reason for one outage.
   */
  unavailable: { readonly sinceMs: number; readonly tries: number; readonly reason: string } | undefined;
  /** Time from which the age of the task counts, ms. */
  createdAtMs = 0;
  /** The current step. */
  running: Promise<void> = Promise.resolve();
  /** A request waits for the first step and reports its status. */
  isHeld = true;
  #created: CreatedTask | undefined;
  #slot: Endpoint | undefined;

  constructor(request: TaskRequest) {
    this.request = request;
    this.key = attemptKey(request);
    this.taskType = request.template?.type ?? "";
    this.version = request.template?.taskTypeVersion ?? 0;
    this.project = request.id?.nodeExecutionId?.executionId?.project ?? "";
    this.ownerUid = request.owner?.uid ?? "";
    this.source = {
      outputPrefix: request.outputPrefix,
      declaresOutputs: Object.keys(request.template?.interface?.outputs?.variables ?? {}).length > 0,
    };
    this.status = { phase: knownPhase(request) ?? "WAITING_FOR_RESOURCES", reason: "waiting for its connector" };
  }

  get created(): CreatedTask | undefined {
    return this.#created;
  }

  get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  onCreated(task: CreatedTask, nowMs: number): void {
    this.#created = task;
    this.createdAtMs = nowMs;
    this.unavailable = undefined;
    // Inputs and template may be large, and there may be thousands of attempts.
    this.request = eventFields(this.request);
  }

  /** Endpoint at which the attempt counts as in progress. */
  get slot(): Endpoint | undefined {
    return this.#slot;
  }

  /** Counts the attempt at this endpoint alone. */
  occupySlot(endpoint: Endpoint): void {
    if (this.#slot === endpoint) return;
    this.releaseSlot();
    this.#slot = endpoint;
    endpoint.slots.occupy(this.project);
  }

  releaseSlot(): void {
    this.#slot?.slots.release(this.project);
    this.#slot = undefined;
  }

  /** A status in the current phase, for the given reason. */
  waiting(reason: string): Progress {
    const { phase, logs, customInfo } = this.status;
    const shown = isProgressPhase(phase) ? phase : "WAITING_FOR_RESOURCES";
    return { phase: shown, reason, ...(logs && { logs }), ...(customInfo && { customInfo }), ...this.pluginState() };
  }

  /** Plugin state of each status once the task is created. */
  pluginState(): { readonly pluginState?: Uint8Array } {
    return this.#created === undefined ? {} : { pluginState: encodeState(this.#created) };
  }
}

const PROGRESS: ReadonlySet<string> = new Set<ProgressPhase>(["WAITING_FOR_RESOURCES", "QUEUED", "INITIALIZING", "RUNNING"]);

function isProgressPhase(phase: string): phase is ProgressPhase {
  return PROGRESS.has(phase);
}

/** Phase that propeller knows from an earlier process. */
function knownPhase(request: TaskRequest): ProgressPhase | undefined {
  const name = Phase[request.knownPhase] ?? "";
  return isProgressPhase(name) ? name : undefined;
}
