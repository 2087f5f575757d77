import { rm } from "node:fs/promises";
import { parseQuantity } from "../object/quantity.js";
import { textAt } from "../object/model.js";
import { isEnded } from "../api/pod/resources.js";
import { findPodFolders, podFolder } from "./pod-folder.js";
import type { PodChange } from "./pod-source.js";
import { PodWorker, type WorkerDeps } from "./pod-worker.js";
import { treeMemory } from "./process-memory.js";
import type { Scheduler } from "./scheduler.js";

export interface KubeletOptions extends Omit<WorkerDeps, "onSettled"> {
  /** Absent: pods are given to this node by somebody else. */
  readonly scheduler?: Scheduler;
  readonly enforceMemory: boolean;
}

/** How often logs and memory of running containers are looked at, ms. */
const SAMPLE_MS = 200;

/** Runs the pods that are bound to this machine. */
export class Kubelet {
  readonly #options: KubeletOptions;
  readonly #workers = new Map<string, PodWorker>();
  readonly #unsubscribe: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #removals = new Set<Promise<void>>();
  /** Containers, by pid, that were over their memory limit at the last look. */
  #large: ReadonlySet<number> = new Set();

  /** Takes up where an earlier kubelet of the same folder left. */
  constructor(options: KubeletOptions) {
    this.#options = options;
    const { pods } = options;
    this.#unsubscribe = pods.subscribe((change) => this.#onChange(change));
    for (const pod of pods.list()) this.#onChange({ type: "ADDED", pod });
    this.#sweep();
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  /** Stops working; the pods' processes end too, or are left for the next kubelet. */
  async close(pods: "keep" | "kill"): Promise<void> {
    this.#unsubscribe();
    clearInterval(this.#timer);
    const workers = [...this.#workers.values()];
    if (pods === "kill") await Promise.all(workers.map((worker) => worker.kill()));
    else for (const worker of workers) worker.detach();
    this.#options.warm?.close();
    await Promise.all(this.#removals);
  }

  /** Kills what runs before it returns, for a process that ends at once. */
  killNow(): void {
    this.#options.warm?.kill();
    for (const worker of this.#workers.values()) void worker.kill();
    this.#options.reaper.look();
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
      // A pod that has ended needs a worker only to leave, if a crash kept it from that.
      if (isEnded(pod) && pod.metadata.deletionTimestamp === undefined) return;
      worker = new PodWorker({ ...this.#options, onSettled: () => this.#workers.delete(uid) }, pod);
      this.#workers.set(uid, worker);
    }
    worker.wake();
  }

  #remove(uid: string): void {
    const worker = this.#workers.get(uid);
    this.#workers.delete(uid);
    const { path } = podFolder(this.#options.podsFolder, uid);
    this.#track(worker === undefined ? rm(path, { recursive: true, force: true }) : worker.remove());
  }

  #track(work: Promise<void>): void {
    const logged = work.catch((error: unknown) => this.#options.logger.warn({ error: String(error) }, "pod folder could not be removed"));
    this.#removals.add(logged);
    void logged.then(() => this.#removals.delete(logged));
  }

  /** Ends and removes what belongs to pods that were deleted while no kubelet ran. */
  #sweep(): void {
    const { podsFolder, pods } = this.#options;
    // By path, for a folder may not say yet whose it is; its pod's worker is about to use it.
    const known = new Set(pods.list().map(({ metadata }) => podFolder(podsFolder, metadata.uid ?? "").path));
    for (const { uid, path } of findPodFolders(podsFolder)) {
      if (known.has(path)) continue;
      const cleared =
        uid === "" ? Promise.resolve() : this.#options.reaper.purge({ podUid: uid, container: undefined, session: undefined });
      this.#track(cleared.then(() => rm(path, { recursive: true, force: true })));
    }
  }

  #sample(): void {
    const now = this.#options.pods.now();
    const large = new Set<number>();
    for (const worker of this.#workers.values()) {
      worker.sampleLogs(now);
      if (!this.#options.enforceMemory) continue;
      for (const { pid, memoryLimit, kill } of worker.running()) {
        if (memoryLimit === undefined) continue;
        const limit = Number(parseQuantity(memoryLimit) / 1000n);
        // The cheap count is never too low, so the exact one is only taken when it matters.
        if (treeMemory(pid, false) <= limit || treeMemory(pid, true) <= limit) continue;
        // A child that is being started has its parent's memory for a moment (vfork), which counts twice then.
        if (this.#large.has(pid)) kill();
        large.add(pid);
      }
    }
    this.#large = large;
  }
}
