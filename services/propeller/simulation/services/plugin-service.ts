import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { answer, type AnswerDetails } from "../fixtures/task-event.js";
import type { Random } from "../random.js";
import type { PluginHeartbeats } from "./plugin-heartbeats.js";
import type { Stream } from "../world/bus.js";
import type { Cluster, Pod } from "./cluster.js";
import type { Faults } from "../world/faults.js";
import type { Schedule } from "../world/schedule.js";

type Phase = keyof typeof TaskExecution_Phase;

/** In-memory state of an attempt. */
interface AttemptRecord {
  request: TaskRequest;
  desired: DesiredState;
  lastReported: TaskEvent | undefined;
}

export interface PluginOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly faults: Faults;
  readonly cluster: Cluster;
  readonly events: (event: TaskEvent) => void;
  readonly requests: Stream<TaskRequest>;
  /** Outputs of an attempt; by value, or only in the blob store. */
  readonly outputsOf: (request: TaskRequest) => { readonly value: LiteralMap; readonly inline: boolean; readonly futures: boolean };
  readonly writeBlob: (uri: string, value: LiteralMap) => void;
  /** Undefined: the service always serves all types. */
  readonly heartbeats: PluginHeartbeats | undefined;
  /** Planted mistake: answers ABORT without stopping the pod. */
  readonly keepsAborted: boolean;
}

const ORDER: Partial<Record<TaskExecution_Phase, number>> = {
  [TaskExecution_Phase.QUEUED]: 1,
  [TaskExecution_Phase.INITIALIZING]: 2,
  [TaskExecution_Phase.RUNNING]: 3,
  [TaskExecution_Phase.SUCCEEDED]: 4,
  [TaskExecution_Phase.FAILED]: 4,
  [TaskExecution_Phase.ABORTED]: 4,
};

/**
 * Simulates a plugin service that follows the task protocol. A restart loses its memory; it then
 * reconciles from the pods alone.
 */
export class PluginService {
  #memory = new Map<string, AttemptRecord>();
  #up = true;
  #epoch = 0;

  constructor(private readonly options: PluginOptions) {
    options.requests.consume((request) => this.#take(request));
    this.#heartbeat();
    options.cluster.onChange = (pod) => this.#podChanged(pod);
    options.heartbeats?.onOutage((ms) => this.#crash(ms));
  }

  #take(request: TaskRequest): boolean {
    if (!this.#up) return false;
    const served = this.options.heartbeats?.availability(request.template?.type ?? "") ?? "now";
    if (served !== "now") return served === "never";
    if (this.options.random.chance(this.options.faults.pluginCrash)) {
      this.#crash();
      return false;
    }
    this.#carryOut(request);
    if (!this.options.random.chance(this.options.faults.pluginCrash)) return true;
    // Ends after the work and before the acknowledgement: the request is redelivered.
    this.#crash();
    return false;
  }

  /** Reports running attempts periodically: an earlier report may have been lost. */
  #heartbeat(): void {
    this.options.schedule.after(100_000, () => {
      for (const memory of this.#memory.values())
        if (this.#up && this.options.cluster.pods.get(memory.request.generatedName)?.state === "live") this.#alive(memory);
      this.#heartbeat();
    });
  }

  #alive(memory: AttemptRecord): void {
    this.options.events(answer(memory.request, "RUNNING", { now: this.options.schedule.now, details: { version: 1 } }));
  }

  /** True when a process knows the attempt and would report it. */
  knows(key: string): boolean {
    return this.#memory.has(key);
  }

  #crash(ms = this.options.random.between(10, 20_000)): void {
    this.#up = false;
    this.#memory = new Map();
    const epoch = ++this.#epoch;
    this.options.schedule.after(ms, () => {
      if (epoch !== this.#epoch) return;
      this.#up = true;
      this.options.heartbeats?.started();
    });
  }

  #carryOut(request: TaskRequest): void {
    const key = request.generatedName;
    const memory = this.#memory.get(key) ?? { request, desired: DesiredState.RUN, lastReported: undefined };
    this.#memory.set(key, memory);
    if (request.desired < memory.desired) {
      this.#repeatReport(memory);
      return;
    }
    memory.request = request;
    memory.desired = request.desired;
    switch (request.desired) {
      case DesiredState.RUN:
        this.#run(memory);
        return;
      case DesiredState.ABORT:
        this.#abort(memory);
        return;
      default:
        memory.lastReported = undefined;
        if (request.deleteResources) this.options.cluster.remove(key);
        return;
    }
  }

  #run(memory: AttemptRecord): void {
    const { request } = memory;
    const { cluster } = this.options;
    const pod = cluster.pods.get(request.generatedName);
    if (memory.lastReported !== undefined && isTerminalTaskEvent(memory.lastReported.event?.phase ?? 0)) this.#repeatReport(memory);
    else if (pod !== undefined) this.#reportPod(memory, pod);
    else if (memory.lastReported !== undefined || request.knownPhase === TaskExecution_Phase.RUNNING)
      this.#report(memory, "FAILED", REMOVED);
    else {
      cluster.start(request.generatedName, request.id?.nodeExecutionId?.nodeId ?? "", request.id?.retryAttempt ?? 0);
      this.#report(memory, "QUEUED");
    }
  }

  #abort(memory: AttemptRecord): void {
    const { cluster, keepsAborted } = this.options;
    const key = memory.request.generatedName;
    const pod = cluster.pods.get(key);
    if (memory.lastReported !== undefined && isTerminalTaskEvent(memory.lastReported.event?.phase ?? 0)) this.#repeatReport(memory);
    else if (pod?.state === "ended") this.#reportPod(memory, pod);
    else if (pod === undefined || keepsAborted) this.#report(memory, "ABORTED");
    else {
      const epoch = this.#epoch;
      cluster.kill(key, () => {
        if (epoch === this.#epoch) this.#report(memory, "ABORTED");
      });
    }
  }

  #podChanged(pod: Pod): void {
    const memory = this.#memory.get(pod.key);
    if (!this.#up || memory === undefined || memory.desired !== DesiredState.RUN) return;
    if (this.options.cluster.pods.get(pod.key) === pod) this.#reportPod(memory, pod);
    else this.#report(memory, "FAILED", REMOVED);
  }

  #reportPod(memory: AttemptRecord, pod: Pod): void {
    if (pod.state === "pending") this.#report(memory, "QUEUED");
    else if (pod.state === "live") this.#report(memory, "RUNNING");
    else this.#reportEnd(memory, pod);
  }

  #reportEnd(memory: AttemptRecord, { outcome }: Pod): void {
    switch (outcome.kind) {
      case "succeeds": {
        const { value, inline, futures } = this.options.outputsOf(memory.request);
        if (!inline) this.options.writeBlob(`${memory.request.outputPrefix}/outputs.pb`, value);
        this.#report(memory, "SUCCEEDED", futures ? { futures } : inline ? { outputs: value } : {});
        return;
      }
      case "fails":
        this.#report(memory, "FAILED", {
          recoverable: outcome.recoverable,
          cleanup: outcome.cleanup,
          kind: outcome.system ? "SYSTEM" : "USER",
          code: "TaskFailed",
        });
        return;
      case "hangs":
        return;
    }
  }

  #report(memory: AttemptRecord, phase: Phase, details: AnswerDetails = {}): void {
    const before = ORDER[memory.lastReported?.event?.phase ?? 0] ?? 0;
    const order = ORDER[TaskExecution_Phase[phase]] ?? 0;
    if (order < before || (order === before && memory.lastReported !== undefined)) {
      this.#repeatReport(memory);
      return;
    }
    memory.lastReported = answer(memory.request, phase, { now: this.options.schedule.now, details });
    this.options.events(memory.lastReported);
  }

  #repeatReport(memory: AttemptRecord): void {
    if (memory.lastReported !== undefined) this.options.events(memory.lastReported);
  }
}

const REMOVED: AnswerDetails = { recoverable: true, kind: "SYSTEM", code: "ResourceDeletedExternally", message: "resource not found" };
