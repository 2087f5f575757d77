import { randomUUID } from "node:crypto";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptKey, eventFields, type Progress, type ProgressPhase, type TaskStatus } from "@flyte-ts/task-plugin";
import type { Endpoint } from "../endpoint/endpoint.js";
import type { ResultSource } from "../result/task-result.js";
import { type CreatedTask, encodeState } from "../record/created-task.js";

/** An attempt that this process runs until its terminal phase. */
export class LiveAttempt {
  readonly key: string;
  readonly taskType: string;
  readonly version: number;
  readonly project: string;
  readonly ownerUid: string;
  readonly source: ResultSource;
  /** Aborted when the attempt is to stop. */
  readonly stopping = new AbortController();
  /**
   * The complete request until the task is created; afterwards only the fields that events need.
   */
  request: TaskRequest;
  status: TaskStatus;
  /** Identifies the record of this attempt in this process. */
  readonly writer = randomUUID();
  /** True while a record says that this process creates the task. */
  hasBegun = false;
  /** A call of this process, or of an earlier one, may have created a task without a known id. */
  isCreationUnknown = false;
  /** Number of GetTask calls since the creation, or since a restart. */
  polls = 0;
  /** Number of consecutive errors of GetTask. */
  errors = 0;
  /**
   * Outage of the connector: the time of the first failed call, ms, the number of consecutive ones,
   * and the first reason, so that users see one reason for one outage.
   */
  unavailable: { readonly sinceMs: number; readonly tries: number; readonly reason: string } | undefined;
  /** Time from which the age of the task counts, ms. */
  createdAtMs = 0;
  /** The current step. */
  running: Promise<void> = Promise.resolve();
  /** True while the first request waits for the first step; its response reports the status. */
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
    // Drops inputs and template, which may be large: there may be thousands of attempts.
    this.request = eventFields(this.request);
  }

  /** Endpoint whose slot the attempt occupies. */
  get slot(): Endpoint | undefined {
    return this.#slot;
  }

  /** Occupies a slot of this endpoint and releases that of another. */
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

  /** Returns a status in the current phase, with the given reason. */
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
