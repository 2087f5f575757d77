import { rm } from "node:fs/promises";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { at, type KubeObject, textAt } from "../object/model.js";
import { LogClock } from "./container/log.js";
import { ContainerProcess, type Ended } from "./container/process.js";
import { containersOf, gracePeriodOf, restartPolicyOf } from "./container/spec.js";
import { containerId, type ContainerState } from "./container-state.js";
import { decide, type Decision, type Run } from "./decide.js";
import { ContainerConfigError, type Lookup } from "./container/environment.js";
import type { EventRecorder, Note } from "./event-recorder.js";
import { judgeImage } from "./image/policy.js";
import { createPodFolder, podFolder, type PodFolder } from "./pod-folder.js";
import type { PodSource } from "./pod-source.js";
import { podStatus } from "./pod-status.js";
import type { Reaper } from "./container/reaper.js";
import type { WarmPythons } from "./container/warm-python.js";
import { findRuns, newRun, noteCause, readCause, readClaim, readExit, type RunFolder, writeExit } from "./container/run-folder.js";
import { type MachineSettings, NoCommandError, planStart, terminationMessage } from "./start-container.js";
import { prepareVolumes, VolumeError } from "./container/volumes.js";

export interface WorkerDeps {
  readonly pods: PodSource;
  readonly events: EventRecorder;
  readonly reaper: Reaper;
  readonly warm?: WarmPythons | undefined;
  readonly settings: MachineSettings;
  readonly unreachableImages: readonly string[];
  readonly podsFolder: string;
  readonly maxLogBytes: number;
  readonly logger: Logger;
  /** The pod has ended, nothing of it is left running, and nobody deletes it: the worker is done. */
  readonly onSettled: () => void;
}

/** Missing secrets and config maps are looked for this often, ms. */
const RETRY_MS = 2_000;
/** ErrImagePull shows this long before ImagePullBackOff takes its place, ms. */
const PULL_ERROR_MS = 2_000;
const PULL_BACKOFF: Backoff = { initialMs: 10_000, maxMs: 300_000 };
/** A name that is no image name will not become one; kubelet looks again all the same. */
const INVALID_IMAGE_RETRY_MS = 60_000;

/**
 * Runs one pod: gathers what is, lets `decide` say what to do, does it, and
 * writes the status. Every cause (a change of the object, the end of a process,
 * time) leads to the same round.
 */
export class PodWorker {
  readonly uid: string;
  readonly #deps: WorkerDeps;
  readonly #place: { readonly namespace: string; readonly name: string };
  readonly #folder: PodFolder;
  readonly #containers: ContainerState[];
  readonly #clocks = new Map<string, LogClock>();
  #volumesReady = false;
  #volumesRetryAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #scheduled = false;
  #stopped = false;
  #removed = false;

  constructor(deps: WorkerDeps, pod: KubeObject) {
    this.#deps = deps;
    this.uid = pod.metadata.uid ?? "";
    this.#place = { namespace: pod.metadata.namespace ?? "", name: pod.metadata.name };
    this.#folder = podFolder(deps.podsFolder, this.uid);
    this.#containers = containersOf(pod).map((spec) => ({
      spec,
      run: undefined,
      previous: undefined,
      process: undefined,
      blocked: undefined,
    }));
    for (const container of this.#containers) this.#adopt(container);
  }

  /** Looks at everything again soon. */
  wake(): void {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#stopped) return;
      try {
        this.#round();
      } catch (error) {
        this.#deps.logger.error(
          { pod: this.#place.name, error: String(error), stack: error instanceof Error ? error.stack : undefined },
          "pod round failed",
        );
        this.#wakeAfter(RETRY_MS);
      }
    });
  }

  /** The object is gone: kills what runs at once and removes the folder. */
  async remove(): Promise<void> {
    if (this.#removed) return;
    this.#removed = true;
    this.#stop();
    await this.kill();
    await rm(this.#folder.path, { recursive: true, force: true, maxRetries: 3 });
  }

  /** The service stops; the processes stay for the next one to adopt. */
  detach(): void {
    this.#stop();
    for (const { process } of this.#containers) process?.detach();
  }

  /** Kills all processes; resolves when none is left. */
  async kill(): Promise<void> {
    this.#stop();
    const processes = this.#containers.flatMap(({ process }) => process ?? []);
    for (const process of processes) process.stop(0);
    await Promise.all(processes.map(({ purged }) => purged));
  }

  /** Containers that run, with their limits; for those who watch memory and logs. */
  running(): { readonly name: string; readonly pid: number; readonly memoryLimit: unknown; readonly kill: () => void }[] {
    return this.#containers.flatMap(({ spec, process }) => {
      const pid = process?.pid;
      if (process === undefined || pid === undefined) return [];
      const kill = () => {
        noteCause(process.run, { reason: "OOMKilled", message: "" });
        process.stop(0);
      };
      return [{ name: spec.name, pid, memoryLimit: at(spec.raw, "resources", "limits", "memory"), kill }];
    });
  }

  /** Notes the growth of logs. */
  sampleLogs(now: number): void {
    for (const clock of this.#clocks.values()) clock.sample(now);
  }

  #stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #wakeAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.wake(), Math.min(Math.max(ms, 1), 2 ** 31 - 1));
  }

  #pod(): KubeObject | undefined {
    const found = this.#deps.pods.get(this.#place.namespace, this.#place.name);
    return found?.metadata.uid === this.uid ? found : undefined;
  }

  #round(): void {
    const pod = this.#pod();
    if (pod === undefined) return;
    let decision = this.#decide(pod);
    for (const name of decision.stop) this.#stopContainer(pod, name);
    if (decision.start.length > 0 && this.#prepareVolumes(pod)) {
      for (const container of this.#containers) if (decision.start.includes(container.spec.name)) this.#start(pod, container);
      decision = this.#decide(pod);
      // An init container or sidecar that started may be followed by the next at once.
      if (decision.start.length > 0) this.wake();
    }
    this.#writeStatus(decision);
    if (decision.over) this.#finish();
    const wakeAt = Math.min(
      decision.wakeAt ?? Number.POSITIVE_INFINITY,
      this.#volumesReady ? Number.POSITIVE_INFINITY : this.#volumesRetryAt || Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(wakeAt) && !decision.over) this.#wakeAfter(wakeAt - this.#deps.pods.now());
  }

  #decide(pod: KubeObject): Decision {
    const phase = textAt(pod, "status", "phase");
    const active = at(pod, "spec", "activeDeadlineSeconds");
    const startTime = textAt(pod, "status", "startTime");
    const now = this.#deps.pods.now();
    return decide({
      containers: this.#containers.map(({ spec, run, blocked }) => ({ name: spec.name, role: spec.role, run, blocked })),
      restartPolicy: restartPolicyOf(pod),
      now,
      deleting: pod.metadata.deletionTimestamp !== undefined,
      deadline: typeof active === "number" ? (startTime === undefined ? now : Date.parse(startTime)) + active * 1000 : undefined,
      // A pod without its volumes asks to start, and `#prepareVolumes` says whether it may.
      volumesReady: true,
      settled: phase === "Succeeded" || phase === "Failed" ? phase : undefined,
    });
  }

  #stopContainer(pod: KubeObject, name: string): void {
    const container = this.#containers.find(({ spec }) => spec.name === name);
    if (container?.process === undefined) return;
    const { deletionGracePeriodSeconds } = pod.metadata;
    if (!container.process.isStopping) this.#note(pod, { type: "Normal", reason: "Killing", message: `Stopping container ${name}` }, name);
    container.process.stop((deletionGracePeriodSeconds ?? gracePeriodOf(pod)) * 1000);
  }

  #prepareVolumes(pod: KubeObject): boolean {
    if (this.#volumesReady) return true;
    const { now } = this.#deps.pods;
    if (this.#volumesRetryAt > now()) return false;
    createPodFolder(this.#folder, this.uid);
    try {
      prepareVolumes({ pod, folder: this.#folder.volumes, lookup: this.#lookup(), hostIP: this.#deps.settings.hostIP });
      this.#volumesReady = true;
      return true;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      this.#note(pod, { type: "Warning", reason: "FailedMount", message: error.message });
      this.#volumesRetryAt = now() + RETRY_MS;
      return false;
    }
  }

  #start(pod: KubeObject, container: ContainerState): void {
    const { spec } = container;
    if (!this.#imageIsThere(pod, container)) return;
    const { settings, pods } = this.#deps;
    const attempt = container.run === undefined ? 0 : container.run.attempt + 1;
    try {
      const plan = planStart({ pod, spec, folder: this.#folder, lookup: this.#lookup(), settings });
      const run = newRun(this.#folder.runs(spec.name), attempt);
      this.#note(
        pod,
        { type: "Normal", reason: "Pulled", message: `Container image ${JSON.stringify(spec.image)} already present on machine` },
        spec.name,
      );
      this.#note(pod, { type: "Normal", reason: "Created", message: `Created container: ${spec.name}` }, spec.name);
      const last = container.run;
      container.blocked = undefined;
      if (plan.unrunnable !== undefined) {
        noteCause(run, { reason: "StartError", message: plan.unrunnable });
        writeExit(run, 128);
        container.run = {
          state: "ended",
          attempt,
          startedAt: 0,
          finishedAt: pods.now(),
          exitCode: 128,
          reason: "StartError",
          message: plan.unrunnable,
        };
        this.#note(pod, { type: "Warning", reason: "Failed", message: `Error: ${plan.unrunnable}` }, spec.name);
        this.wake();
        return;
      }
      const startedAt = pods.now();
      container.process = ContainerProcess.launch(
        { podUid: this.uid, container: spec.name, run, ...plan },
        {
          ...this.#handlers(container, run),
          onFailure: (error) => {
            container.run = last;
            container.process = undefined;
            this.#block(pod, container, { reason: "CreateContainerError", message: error.message });
            this.wake();
          },
        },
      );
      container.previous = last;
      container.run = { state: "running", attempt, startedAt };
      this.#clocks.set(spec.name, new LogClock(run, this.#deps.maxLogBytes));
      this.#note(pod, { type: "Normal", reason: "Started", message: `Started container ${spec.name}` }, spec.name);
    } catch (error) {
      if (error instanceof ContainerConfigError)
        this.#block(pod, container, { reason: "CreateContainerConfigError", message: error.message });
      else {
        if (!(error instanceof NoCommandError))
          this.#deps.logger.warn({ pod: this.#place.name, error: String(error) }, "container could not be created");
        this.#block(pod, container, { reason: "CreateContainerError", message: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  #block(pod: KubeObject, container: ContainerState, { reason, message }: { reason: string; message: string }): void {
    container.blocked = { reason, message, retryAt: this.#deps.pods.now() + RETRY_MS, pulls: 0 };
    this.#note(pod, { type: "Warning", reason: "Failed", message: `Error: ${message}` }, container.spec.name);
  }

  /** kubelet's states of an image that cannot be had: the failed pull, then the wait before the next. */
  #imageIsThere(pod: KubeObject, container: ContainerState): boolean {
    const { image, name } = container.spec;
    const verdict = judgeImage(image, this.#deps.unreachableImages);
    if (verdict.kind === "present") return true;
    const now = this.#deps.pods.now();
    const note = (type: Note["type"], reason: string, message: string) => this.#note(pod, { type, reason, message }, name);
    if (verdict.kind === "invalid") {
      note("Warning", "InspectFailed", verdict.message);
      note("Warning", "Failed", "Error: InvalidImageName");
      container.blocked = { reason: "InvalidImageName", message: verdict.message, retryAt: now + INVALID_IMAGE_RETRY_MS, pulls: 0 };
      return false;
    }
    const { blocked } = container;
    const pulls = blocked?.pulls ?? 0;
    if (blocked?.reason === "ErrImagePull") {
      note("Normal", "BackOff", `Back-off pulling image ${JSON.stringify(image)}`);
      note("Warning", "Failed", "Error: ImagePullBackOff");
      const delay = backoffDelay(PULL_BACKOFF, pulls - 1);
      const message = `Back-off pulling image ${JSON.stringify(image)}: ErrImagePull: ${verdict.message}`;
      container.blocked = { reason: "ImagePullBackOff", message, retryAt: now + delay, pulls };
      return false;
    }
    note("Normal", "Pulling", `Pulling image ${JSON.stringify(image)}`);
    note("Warning", "Failed", `Failed to pull image ${JSON.stringify(image)}: ${verdict.message}`);
    note("Warning", "Failed", "Error: ErrImagePull");
    container.blocked = { reason: "ErrImagePull", message: verdict.message, retryAt: now + PULL_ERROR_MS, pulls: pulls + 1 };
    return false;
  }

  #handlers(container: ContainerState, run: RunFolder) {
    return {
      reaper: this.#deps.reaper,
      warm: this.#deps.warm,
      now: this.#deps.pods.now,
      onEnd: (end: Ended) => {
        const startedAt = container.run?.startedAt ?? end.finishedAt;
        container.run = this.#endedRun(container, { run, startedAt, end });
        this.#clocks.get(container.spec.name)?.sample(this.#deps.pods.now());
        this.#clocks.delete(container.spec.name);
        this.wake();
      },
    };
  }

  #endedRun({ spec }: ContainerState, { run, startedAt, end }: { run: RunFolder; startedAt: number; end: Ended }): Run {
    const cause = readCause(run);
    const reason = cause?.reason ?? (end.exitCode === 0 ? "Completed" : "Error");
    const message = cause?.message || terminationMessage({ folder: this.#folder, spec }, { run, exitCode: end.exitCode });
    return {
      state: "ended",
      attempt: run.attempt,
      startedAt,
      finishedAt: Math.max(end.finishedAt, startedAt),
      exitCode: end.exitCode,
      reason,
      message,
    };
  }

  /** Takes over what an earlier service left: finished runs from their files, living ones from their processes. */
  #adopt(container: ContainerState): void {
    const runs = findRuns(this.#folder.runs(container.spec.name));
    for (const run of runs) {
      const claim = readClaim(run);
      const exit = readExit(run);
      if (claim === undefined && exit === undefined) continue; // Never began; the same attempt is made again.
      container.previous = container.run;
      const startedAt = claim?.at ?? 0;
      if (exit !== undefined) {
        container.run = this.#endedRun(container, { run, startedAt, end: { exitCode: exit.code, finishedAt: exit.at, lost: false } });
        continue;
      }
      container.run = { state: "running", attempt: run.attempt, startedAt };
      container.process = ContainerProcess.adopt({ podUid: this.uid, container: container.spec.name, run }, this.#handlers(container, run));
      this.#clocks.set(container.spec.name, new LogClock(run, this.#deps.maxLogBytes));
    }
  }

  #writeStatus(decision: Decision): void {
    const pod = this.#pod();
    if (pod === undefined) return;
    const status = podStatus({
      pod,
      decision,
      hostIP: this.#deps.settings.hostIP,
      now: this.#deps.pods.now(),
      containers: this.#containers.map(({ spec, run, previous, blocked }) => ({
        spec,
        run,
        previous,
        waiting: blocked,
        containerId: containerId(this.uid, spec.name, run?.attempt ?? 0),
        previousId: containerId(this.uid, spec.name, previous?.attempt ?? 0),
      })),
    });
    for (const [name] of decision.backOff) this.#noteBackOff(pod, name);
    if (status !== pod["status"]) this.#deps.pods.writeStatus(pod, status);
  }

  #noteBackOff(pod: KubeObject, name: string): void {
    const message = `Back-off restarting failed container ${name} in pod ${this.#place.name}_${this.#place.namespace}(${this.uid})`;
    this.#note(pod, { type: "Warning", reason: "BackOff", message }, name);
  }

  /** The pod is over: once no process is left, a deleted one may go. */
  #finish(): void {
    const purged = Promise.all(this.#containers.flatMap(({ process }) => process?.purged ?? []));
    purged
      .then(() => {
        const pod = this.#pod();
        if (this.#stopped || pod === undefined) return;
        if (pod.metadata.deletionTimestamp === undefined) return this.#deps.onSettled();
        this.#deps.pods.release(pod);
      })
      .catch((error: unknown) => this.#deps.logger.error({ error: String(error) }, "pod could not be finished"));
  }

  #lookup(): Lookup {
    return this.#deps.pods.lookup(this.#place.namespace);
  }

  #note(pod: KubeObject, note: Note, container?: string): void {
    const init = container !== undefined && this.#containers.some(({ spec }) => spec.name === container && spec.role !== "main");
    const fieldPath = container === undefined ? {} : { fieldPath: `spec.${init ? "initContainers" : "containers"}{${container}}` };
    this.#deps.events.record(pod, { ...note, ...fieldPath });
  }
}
