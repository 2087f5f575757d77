import type { ManualTime } from "@flyte-ts/async/manual-time";
import { objectKey, type PodLogOptions } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { takeOf, WARM_MODE_LABEL } from "@flyte-ts/pod-task/warm";
import type { Change, SimulatedCluster } from "./simulated-cluster.js";

/** Time until a supervisor reads a change of its assignment, ms. */
const READ_MS = 150;
/** Time after which a kubelet looks at each pod again, ms. */
const PERIODIC_SYNC_MS = 60_000;
const ABORT_MS = 100;
const REPEATS_MS = [1_000, 3_000, 10_000, 20_000, 30_000];
const ACKNOWLEDGED_MS = 45_000;

interface Assignment {
  readonly take: string;
  readonly tag: string;
  readonly abort?: boolean;
}

interface Process {
  readonly done: Set<string>;
  /** Attempt that runs, or whose end is not acknowledged. */
  current?: Assignment & { ended: boolean };
  lastLine: string;
  readonly streams: Set<(line: string | undefined) => void>;
}

/** Processes of reused pods: they run attempts, write marks and end as the supervisor does. */
export class SimulatedSupervisors {
  /** Kubelets show changes of assignments. */
  readsAssignments = true;
  /** Number of changes that the kubelet misses until its periodic sync. */
  missedChanges = 0;
  /** Modules that the ends of attempts tell. */
  told: object = {};
  readonly #processes = new Map<string, Process>();

  constructor(
    private readonly cluster: SimulatedCluster,
    private readonly clock: ManualTime,
  ) {
    cluster.onChange((change) => this.#onChange(change));
    cluster.logs = (options) => this.#log(options);
  }

  /** True when the attempt of this tag runs in some pod. */
  isRunning(tag: string): boolean {
    return [...this.#processes.values()].some(({ current }) => current?.tag === tag && !current.ended);
  }

  /** Ends the attempt of this tag by itself; starts it before if need be. */
  complete(tag: string): void {
    if (!this.isRunning(tag)) for (const key of this.#processes.keys()) this.#read(key);
    for (const [key, { current }] of this.#processes)
      if (current?.tag === tag && !current.ended) this.#end(key, { code: 0, aborted: false });
  }

  /** Ends the attempt of this tag like a supervisor whose pod is stopped, with the given mark. */
  stop(tag: string, told: object): void {
    for (const [key, { current }] of this.#processes)
      if (current?.tag === tag && !current.ended) this.#end(key, { code: 143, aborted: false, ...told });
  }

  /** Closes all open logs, or lets them hang. */
  breakLogs(how: "close" | "hang"): void {
    for (const { streams } of this.#processes.values()) {
      if (how === "close") for (const notify of streams) notify(undefined);
      streams.clear();
    }
  }

  #onChange({ before, after }: Change): void {
    const pod = after ?? before;
    if (pod?.metadata.labels?.[WARM_MODE_LABEL] !== "reused") return;
    const key = objectKey(pod);
    if (after === undefined) {
      this.#processes.get(key)?.streams.forEach((notify) => notify(undefined));
      this.#processes.delete(key);
      return;
    }
    // An earlier attempt has left its last line.
    if (!this.#processes.has(key))
      this.#processes.set(key, { done: new Set(), lastLine: `${"0".repeat(16)}= ${mark("0")}`, streams: new Set() });
    const isChanged = assignmentText(before) !== assignmentText(after) || before?.status?.phase !== after.status?.phase;
    if (isChanged) this.clock.schedule(this.#delayMs(), () => this.#read(key));
  }

  #delayMs(): number {
    if (this.missedChanges === 0) return READ_MS;
    this.missedChanges--;
    return PERIODIC_SYNC_MS;
  }

  #read(key: string): void {
    const process = this.#processes.get(key);
    const pod = this.cluster.pods.get(key);
    if (!this.readsAssignments || process === undefined || pod?.status?.phase !== "Running" || pod.metadata.deletionTimestamp !== undefined)
      return;
    const assigned = JSON.parse(assignmentText(pod) ?? "null") as Assignment | null;
    const { current } = process;
    if (current?.ended === true && assigned?.take !== current.take) delete process.current;
    if (assigned === null) return;
    if (process.current === undefined && !process.done.has(assigned.take)) this.#start(process, assigned);
    if (assigned.abort === true && process.current?.take === assigned.take) {
      this.clock.schedule(ABORT_MS, () => {
        if (process.current?.take === assigned.take && !process.current.ended) this.#end(key, { code: 143, aborted: true });
      });
    }
  }

  #start(process: Process, assigned: Assignment): void {
    process.done.add(assigned.take);
    process.current = { ...assigned, ended: false };
    this.#write(process, `${assigned.tag}= ${JSON.stringify({ start: assigned.take })}`);
  }

  #end(key: string, end: { readonly code: number; readonly aborted: boolean; readonly retires?: string }): void {
    const process = this.#processes.get(key);
    const current = process?.current;
    if (process === undefined || current === undefined) return;
    current.ended = true;
    const json = mark(current.take, { ...end, finishedAt: this.clock.now() / 1_000, ...this.told });
    const isUnacknowledged = () => process.current === current;
    const write = () => isUnacknowledged() && this.#write(process, `${current.tag}= ${json}`);
    write();
    if (end.retires !== undefined) return;
    for (const ms of REPEATS_MS) this.clock.schedule(ms, write);
    this.clock.schedule(ACKNOWLEDGED_MS, () => {
      const pod = this.cluster.pods.get(key);
      if (!isUnacknowledged() || pod === undefined) return;
      const state = {
        terminated: { exitCode: end.code, reason: "Completed", message: json, finishedAt: new Date(this.clock.now()).toISOString() },
      };
      this.cluster.setPodStatus(key, end.code === 0 ? "Succeeded" : "Failed", { state });
    });
  }

  #write(process: Process, line: string): void {
    process.lastLine = line;
    for (const notify of process.streams) notify(line);
  }

  async *#log({ namespace, name, signal }: PodLogOptions): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    const process = this.#processes.get(`${namespace}/${name}`);
    if (process === undefined) return;
    const lines: (string | undefined)[] = [process.lastLine];
    let wake: () => void = () => undefined;
    const notify = (line: string | undefined) => {
      lines.push(line);
      wake();
    };
    process.streams.add(notify);
    signal.addEventListener("abort", () => notify(undefined));
    try {
      while (!signal.aborted) {
        if (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        const line = lines.shift();
        if (line === undefined) return;
        yield Buffer.from(`2026-01-02T03:04:05.000000001Z ${line}\n`);
      }
    } finally {
      process.streams.delete(notify);
    }
  }
}

/** The mark of an end. */
export function mark(take: string, over: object = {}): string {
  const end = { end: take, code: 0, oom: false, aborted: false, startedAt: 0, finishedAt: 0, message: "", retires: null };
  return JSON.stringify({ ...end, ...over });
}

function assignmentText(pod: Pod | undefined): string | undefined {
  return pod === undefined || takeOf(pod) === undefined ? undefined : pod.metadata.annotations?.["flyte.org/warm-assignment"];
}
