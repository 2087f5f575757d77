import { rm } from "node:fs/promises";
import { parseQuantity } from "../object/quantity.js";
import { textAt } from "../object/model.js";
import { isEnded } from "../api/pod/resources.js";
import { findPodDirs, podDir } from "./pod/pod-dir.js";
import type { PodChange } from "./pod/pod-source.js";
import { PodWorker, type PodWorkerOptions } from "./pod/pod-worker.js";
import { treeMemory } from "./container/process-memory.js";
import type { Scheduler } from "./node/scheduler.js";

export interface KubeletOptions extends Omit<PodWorkerOptions, "onDone"> {
  /** Absent: an external scheduler binds pods. */
  readonly scheduler?: Scheduler;
  readonly enforceMemory: boolean;
}

/** Sampling interval of logs and memory, ms. */
const SAMPLE_INTERVAL_MS = 200;

/** Runs the pods bound to this node. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #workers = new Map<string, PodWorker>();
  readonly #unsubscribe: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #removals = new Set<Promise<void>>();
  /** Pids of containers over their memory limit at the last sample. */
  #overLimit: ReadonlySet<number> = new Set();

  /** Adopts the pods of an earlier kubelet on the same directory. */
  constructor(options: KubeletOptions) {
    this.#options = options;
    const { pods } = options;
    this.#unsubscribe = pods.subscribe((change) => this.#onChange(change));
    for (const pod of pods.list()) this.#onChange({ type: "ADDED", pod });
    this.#removeOrphans();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_INTERVAL_MS);
  }

  /** Stops; processes of pods are killed, or left for the next kubelet. */
  async close(pods: "keep" | "kill"): Promise<void> {
    this.#unsubscribe();
    clearInterval(this.#timer);
    const workers = [...this.#workers.values()];
    if (pods === "kill") await Promise.all(workers.map((worker) => worker.kill()));
    else for (const worker of workers) worker.detach();
    for (const starter of this.#options.warmStarters) starter.close();
    await Promise.all(this.#removals);
  }

  /** Kills all pods synchronously, for a process that is exiting. */
  killNow(): void {
    for (const starter of this.#options.warmStarters) starter.kill();
    for (const worker of this.#workers.values()) void worker.kill();
    this.#options.reaper.scanNow();
  }

  get workers(): number {
    return this.#workers.size;
  }

  #onChange(change: PodChange): void {
    this.#options.scheduler?.observe(change);
    const { type, pod } = change;
    const { uid = "" } = pod.metadata;
    if (type === "DELETED") {
      this.#remove(uid);
      return;
    }
    if (textAt(pod, "spec", "nodeName") !== this.#options.settings.nodeName) return;
    let worker = this.#workers.get(uid);
    if (worker === undefined) {
      // An ended pod needs a worker only while it is being deleted.
      if (isEnded(pod) && pod.metadata.deletionTimestamp === undefined) return;
      worker = new PodWorker({ ...this.#options, onDone: () => this.#workers.delete(uid) }, pod);
      this.#workers.set(uid, worker);
    }
    worker.wake();
  }

  #remove(uid: string): void {
    const worker = this.#workers.get(uid);
    this.#workers.delete(uid);
    const { path } = podDir(this.#options.podsFolder, uid);
    this.#track(worker === undefined ? rm(path, { recursive: true, force: true }) : worker.remove());
  }

  #track(work: Promise<void>): void {
    const logged = work.catch((error: unknown) =>
      this.#options.logger.warn({ error: String(error) }, "failed to remove the pod directory"),
    );
    this.#removals.add(logged);
    void logged.then(() => this.#removals.delete(logged));
  }

  /** Kills and removes pods that were deleted while no kubelet ran. */
  #removeOrphans(): void {
    const { podsFolder, pods } = this.#options;
    // Compares paths, since a new directory may not contain its uid yet.
    const known = new Set(pods.list().map(({ metadata }) => podDir(podsFolder, metadata.uid ?? "").path));
    for (const { uid, path } of findPodDirs(podsFolder)) {
      if (known.has(path)) continue;
      const cleared =
        uid === "" ? Promise.resolve() : this.#options.reaper.killAll({ podUid: uid, container: undefined, session: undefined });
      this.#track(cleared.then(() => rm(path, { recursive: true, force: true })));
    }
  }

  #sample(): void {
    const now = this.#options.pods.now();
    const overLimit = new Set<number>();
    for (const worker of this.#workers.values()) {
      worker.sampleLogs(now);
      if (!this.#options.enforceMemory) continue;
      for (const { pid, memoryLimit, kill } of worker.running()) {
        if (memoryLimit === undefined) continue;
        const limit = Number(parseQuantity(memoryLimit) / 1000n);
        // The cheap measurement is never too low, so the exact one is needed only above the limit.
        if (treeMemory(pid, false) <= limit || treeMemory(pid, true) <= limit) continue;
        // During vfork a child shares its parent's memory, which is counted twice: only two
        // consecutive samples count.
        if (this.#overLimit.has(pid)) kill();
        overLimit.add(pid);
      }
    }
    this.#overLimit = overLimit;
  }
}
