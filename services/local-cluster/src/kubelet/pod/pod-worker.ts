import { rm } from "node:fs/promises";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { at, type KubeObject, textAt } from "../../object/model.js";
import { LogGrowthRecorder } from "../container/container-log.js";
import { ContainerProcess, type ProcessExit } from "../container/container-process.js";
import { containersOf, gracePeriodOf, restartPolicyOf } from "../container/container-spec.js";
import { containerId, type ContainerState } from "../container/container-state.js";
import { planPod, type PodPlan, type Run } from "./plan-pod.js";
import { ContainerConfigError, type Lookup } from "../container/environment.js";
import type { EventRecorder, PodEvent } from "./event-recorder.js";
import { checkImage } from "../image/policy.js";
import { createPodDir, podDir, type PodDir } from "./pod-dir.js";
import type { PodSource } from "./pod-source.js";
import { podStatus } from "./pod-status.js";
import type { ProcessReaper } from "../container/process-reaper.js";
import { findRuns, createRun, writeCause, readCause, readClaim, readExit, type RunDir, writeExit } from "../container/run-dir.js";
import { type MachineSettings, NoCommandError, planStart, terminationMessage } from "../container/start-plan.js";
import { prepareVolumes, VolumeError } from "../container/volumes.js";
import type { StartOrigin, WarmStarter } from "../warm/warm-start.js";

export interface PodWorkerOptions {
  readonly pods: PodSource;
  readonly events: EventRecorder;
  readonly reaper: ProcessReaper;
  readonly warmStarters: readonly WarmStarter[];
  /** Called for each container that starts. */
  readonly onStart?: ((origin: StartOrigin) => void) | undefined;
  readonly settings: MachineSettings;
  readonly unreachableImages: readonly string[];
  readonly podsFolder: string;
  readonly maxLogBytes: number;
  readonly logger: Logger;
  /** Called when the pod has ended, all processes have exited and it is not being deleted. */
  readonly onDone: () => void;
}

/** Delay of retries for missing secrets and config maps, ms. */
const RETRY_DELAY_MS = 2_000;
/** Time for which ErrImagePull is shown before ImagePullBackOff, ms. */
const PULL_ERROR_SHOWN_MS = 2_000;
const PULL_BACKOFF: Backoff = { initialMs: 10_000, maxMs: 300_000 };
/** Retry delay of invalid image names, ms; kubelet retries such pulls as well. */
const INVALID_IMAGE_RETRY_DELAY_MS = 60_000;

/**
 * Runs one pod. Each pass observes its state, lets `planPod` decide, acts and writes the status.
 * Every cause (a change of the object, the end of a process, time) triggers the same pass.
 */
export class PodWorker {
  readonly uid: string;
  readonly #options: PodWorkerOptions;
  readonly #name: { readonly namespace: string; readonly name: string };
  readonly #dir: PodDir;
  readonly #containers: ContainerState[];
  readonly #logRecorders = new Map<string, LogGrowthRecorder>();
  #volumesReady = false;
  #volumesRetryAt = 0;
  #timer: NodeJS.Timeout | undefined;
  #scheduled = false;
  #stopped = false;
  #removed = false;

  constructor(deps: PodWorkerOptions, pod: KubeObject) {
    this.#options = deps;
    this.uid = pod.metadata.uid ?? "";
    this.#name = { namespace: pod.metadata.namespace ?? "", name: pod.metadata.name };
    this.#dir = podDir(deps.podsFolder, this.uid);
    this.#containers = containersOf(pod).map((spec) => ({
      spec,
      run: undefined,
      previous: undefined,
      process: undefined,
      blocked: undefined,
    }));
    for (const container of this.#containers) this.#adopt(container);
  }

  /** Schedules a pass. */
  wake(): void {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#stopped) return;
      try {
        this.#reconcile();
      } catch (error) {
        this.#options.logger.error(
          { pod: this.#name.name, error: String(error), stack: error instanceof Error ? error.stack : undefined },
          "pod reconciliation failed",
        );
        this.#wakeAfter(RETRY_DELAY_MS);
      }
    });
  }

  /** Kills the processes of a deleted pod and removes its directory. */
  async remove(): Promise<void> {
    if (this.#removed) return;
    this.#removed = true;
    this.#stop();
    await this.kill();
    await rm(this.#dir.path, { recursive: true, force: true, maxRetries: 3 });
  }

  /** Stops the worker; the processes remain for adoption. */
  detach(): void {
    this.#stop();
    for (const { process } of this.#containers) process?.detach();
  }

  /** Kills all processes; resolves when they have exited. */
  async kill(): Promise<void> {
    this.#stop();
    const processes = this.#containers.flatMap(({ process }) => process ?? []);
    for (const process of processes) process.stop(0);
    await Promise.all(processes.map(({ allExited }) => allExited));
  }

  /** Lists running containers with their memory limits. */
  running(): { readonly name: string; readonly pid: number; readonly memoryLimit: unknown; readonly kill: () => void }[] {
    return this.#containers.flatMap(({ spec, process }) => {
      const pid = process?.pid;
      if (process === undefined || pid === undefined) return [];
      const kill = () => {
        writeCause(process.run, { reason: "OOMKilled", message: "" });
        process.stop(0);
      };
      return [{ name: spec.name, pid, memoryLimit: at(spec.raw, "resources", "limits", "memory"), kill }];
    });
  }

  /** Records the growth of logs. */
  sampleLogs(now: number): void {
    for (const clock of this.#logRecorders.values()) clock.sample(now);
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
    const found = this.#options.pods.get(this.#name.namespace, this.#name.name);
    return found?.metadata.uid === this.uid ? found : undefined;
  }

  #reconcile(): void {
    const pod = this.#pod();
    if (pod === undefined) return;
    let plan = this.#plan(pod);
    for (const name of plan.stop) this.#stopContainer(pod, name);
    if (plan.start.length > 0 && this.#prepareVolumes(pod)) {
      for (const container of this.#containers) if (plan.start.includes(container.spec.name)) this.#start(pod, container);
      plan = this.#plan(pod);
      // A started init container or sidecar may permit the next start at once.
      if (plan.start.length > 0) this.wake();
    }
    this.#writeStatus(plan);
    if (plan.done) this.#finish();
    const wakeAt = Math.min(
      plan.wakeAt ?? Number.POSITIVE_INFINITY,
      this.#volumesReady ? Number.POSITIVE_INFINITY : this.#volumesRetryAt || Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(wakeAt) && !plan.done) this.#wakeAfter(wakeAt - this.#options.pods.now());
  }

  #plan(pod: KubeObject): PodPlan {
    const phase = textAt(pod, "status", "phase");
    const active = at(pod, "spec", "activeDeadlineSeconds");
    const startTime = textAt(pod, "status", "startTime");
    const now = this.#options.pods.now();
    return planPod({
      containers: this.#containers.map(({ spec, run, blocked }) => ({ name: spec.name, role: spec.role, run, blocked })),
      restartPolicy: restartPolicyOf(pod),
      now,
      deleting: pod.metadata.deletionTimestamp !== undefined,
      deadline: typeof active === "number" ? (startTime === undefined ? now : Date.parse(startTime)) + active * 1000 : undefined,
      // `#prepareVolumes` creates the volumes when containers are to start.
      volumesReady: true,
      finalPhase: phase === "Succeeded" || phase === "Failed" ? phase : undefined,
    });
  }

  #stopContainer(pod: KubeObject, name: string): void {
    const container = this.#containers.find(({ spec }) => spec.name === name);
    if (container?.process === undefined) return;
    const { deletionGracePeriodSeconds } = pod.metadata;
    if (!container.process.isStopping)
      this.#recordEvent(pod, { type: "Normal", reason: "Killing", message: `Stopping container ${name}` }, name);
    container.process.stop((deletionGracePeriodSeconds ?? gracePeriodOf(pod)) * 1000);
  }

  #prepareVolumes(pod: KubeObject): boolean {
    if (this.#volumesReady) return true;
    const { now } = this.#options.pods;
    if (this.#volumesRetryAt > now()) return false;
    createPodDir(this.#dir, this.uid);
    try {
      prepareVolumes({ pod, folder: this.#dir.volumes, lookup: this.#lookup(), hostIP: this.#options.settings.hostIP });
      this.#volumesReady = true;
      return true;
    } catch (error) {
      if (!(error instanceof VolumeError)) throw error;
      this.#recordEvent(pod, { type: "Warning", reason: "FailedMount", message: error.message });
      this.#volumesRetryAt = now() + RETRY_DELAY_MS;
      return false;
    }
  }

  #start(pod: KubeObject, container: ContainerState): void {
    const { spec } = container;
    if (!this.#isImagePresent(pod, container)) return;
    const { settings, pods } = this.#options;
    const attempt = container.run === undefined ? 0 : container.run.attempt + 1;
    try {
      const plan = planStart({ pod, spec, folder: this.#dir, lookup: this.#lookup(), settings });
      const run = createRun(this.#dir.runs(spec.name), attempt);
      this.#recordEvent(
        pod,
        { type: "Normal", reason: "Pulled", message: `Container image ${JSON.stringify(spec.image)} already present on machine` },
        spec.name,
      );
      this.#recordEvent(pod, { type: "Normal", reason: "Created", message: `Created container: ${spec.name}` }, spec.name);
      const last = container.run;
      container.blocked = undefined;
      if (plan.unrunnable !== undefined) {
        writeCause(run, { reason: "StartError", message: plan.unrunnable });
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
        this.#recordEvent(pod, { type: "Warning", reason: "Failed", message: `Error: ${plan.unrunnable}` }, spec.name);
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
      this.#logRecorders.set(spec.name, new LogGrowthRecorder(run, this.#options.maxLogBytes));
      this.#recordEvent(pod, { type: "Normal", reason: "Started", message: `Started container ${spec.name}` }, spec.name);
    } catch (error) {
      if (error instanceof ContainerConfigError)
        this.#block(pod, container, { reason: "CreateContainerConfigError", message: error.message });
      else {
        if (!(error instanceof NoCommandError))
          this.#options.logger.warn({ pod: this.#name.name, error: String(error) }, "failed to create the container");
        this.#block(pod, container, { reason: "CreateContainerError", message: error instanceof Error ? error.message : String(error) });
      }
    }
  }

  #block(pod: KubeObject, container: ContainerState, { reason, message }: { reason: string; message: string }): void {
    container.blocked = { reason, message, retryAt: this.#options.pods.now() + RETRY_DELAY_MS, pulls: 0 };
    this.#recordEvent(pod, { type: "Warning", reason: "Failed", message: `Error: ${message}` }, container.spec.name);
  }

  /** Imitates kubelet's states of an unavailable image: the failed pull, then its back-off. */
  #isImagePresent(pod: KubeObject, container: ContainerState): boolean {
    const { image, name } = container.spec;
    const check = checkImage(image, this.#options.unreachableImages);
    if (check.kind === "present") return true;
    const now = this.#options.pods.now();
    const note = (type: PodEvent["type"], reason: string, message: string) => this.#recordEvent(pod, { type, reason, message }, name);
    if (check.kind === "invalid") {
      note("Warning", "InspectFailed", check.message);
      note("Warning", "Failed", "Error: InvalidImageName");
      container.blocked = { reason: "InvalidImageName", message: check.message, retryAt: now + INVALID_IMAGE_RETRY_DELAY_MS, pulls: 0 };
      return false;
    }
    const { blocked } = container;
    const pulls = blocked?.pulls ?? 0;
    if (blocked?.reason === "ErrImagePull") {
      note("Normal", "BackOff", `Back-off pulling image ${JSON.stringify(image)}`);
      note("Warning", "Failed", "Error: ImagePullBackOff");
      const delay = backoffDelay(PULL_BACKOFF, pulls - 1);
      const message = `Back-off pulling image ${JSON.stringify(image)}: ErrImagePull: ${check.message}`;
      container.blocked = { reason: "ImagePullBackOff", message, retryAt: now + delay, pulls };
      return false;
    }
    note("Normal", "Pulling", `Pulling image ${JSON.stringify(image)}`);
    note("Warning", "Failed", `Failed to pull image ${JSON.stringify(image)}: ${check.message}`);
    note("Warning", "Failed", "Error: ErrImagePull");
    container.blocked = { reason: "ErrImagePull", message: check.message, retryAt: now + PULL_ERROR_SHOWN_MS, pulls: pulls + 1 };
    return false;
  }

  #handlers(container: ContainerState, run: RunDir) {
    return {
      reaper: this.#options.reaper,
      warmStarters: this.#options.warmStarters,
      onStart: this.#options.onStart,
      now: this.#options.pods.now,
      onEnd: (end: ProcessExit) => {
        const startedAt = container.run?.startedAt ?? end.finishedAt;
        container.run = this.#endedRun(container, { run, startedAt, end });
        this.#logRecorders.get(container.spec.name)?.sample(this.#options.pods.now());
        this.#logRecorders.delete(container.spec.name);
        this.wake();
      },
    };
  }

  #endedRun({ spec }: ContainerState, { run, startedAt, end }: { run: RunDir; startedAt: number; end: ProcessExit }): Run {
    const cause = readCause(run);
    const reason = cause?.reason ?? (end.exitCode === 0 ? "Completed" : "Error");
    const message = cause?.message || terminationMessage({ folder: this.#dir, spec }, { run, exitCode: end.exitCode });
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

  /**
   * Adopts runs of an earlier service: ended ones from their files, running ones from their
   * processes.
   */
  #adopt(container: ContainerState): void {
    const runs = findRuns(this.#dir.runs(container.spec.name));
    for (const run of runs) {
      const claim = readClaim(run);
      const exit = readExit(run);
      // The run never started; the same attempt is repeated.
      if (claim === undefined && exit === undefined) continue;
      container.previous = container.run;
      const startedAt = claim?.at ?? 0;
      if (exit !== undefined) {
        container.run = this.#endedRun(container, { run, startedAt, end: { exitCode: exit.code, finishedAt: exit.at, lost: false } });
        continue;
      }
      container.run = { state: "running", attempt: run.attempt, startedAt };
      container.process = ContainerProcess.adopt({ podUid: this.uid, container: container.spec.name, run }, this.#handlers(container, run));
      this.#logRecorders.set(container.spec.name, new LogGrowthRecorder(run, this.#options.maxLogBytes));
    }
  }

  #writeStatus(plan: PodPlan): void {
    const pod = this.#pod();
    if (pod === undefined) return;
    const status = podStatus({
      pod,
      plan,
      hostIP: this.#options.settings.hostIP,
      now: this.#options.pods.now(),
      containers: this.#containers.map(({ spec, run, previous, blocked }) => ({
        spec,
        run,
        previous,
        waiting: blocked,
        containerId: containerId(this.uid, spec.name, run?.attempt ?? 0),
        previousId: containerId(this.uid, spec.name, previous?.attempt ?? 0),
      })),
    });
    for (const [name] of plan.backOff) this.#recordBackOff(pod, name);
    if (status !== pod["status"]) this.#options.pods.writeStatus(pod, status);
  }

  #recordBackOff(pod: KubeObject, name: string): void {
    const message = `Back-off restarting failed container ${name} in pod ${this.#name.name}_${this.#name.namespace}(${this.uid})`;
    this.#recordEvent(pod, { type: "Warning", reason: "BackOff", message }, name);
  }

  /** Once all processes have exited, a deleted pod is released. */
  #finish(): void {
    const purged = Promise.all(this.#containers.flatMap(({ process }) => process?.allExited ?? []));
    purged
      .then(() => {
        const pod = this.#pod();
        if (this.#stopped || pod === undefined) return;
        if (pod.metadata.deletionTimestamp === undefined) return this.#options.onDone();
        this.#options.pods.release(pod);
      })
      .catch((error: unknown) => this.#options.logger.error({ error: String(error) }, "failed to finish the pod"));
  }

  #lookup(): Lookup {
    return this.#options.pods.lookup(this.#name.namespace);
  }

  #recordEvent(pod: KubeObject, note: PodEvent, container?: string): void {
    const init = container !== undefined && this.#containers.some(({ spec }) => spec.name === container && spec.role !== "main");
    const fieldPath = container === undefined ? {} : { fieldPath: `spec.${init ? "initContainers" : "containers"}{${container}}` };
    this.#options.events.record(pod, { ...note, ...fieldPath });
  }
}
