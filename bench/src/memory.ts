import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Memory of the stack's processes, MiB. Shared pages count once (PSS). */
export interface MemoryUse {
  readonly total: number;
  /** Memory by program. */
  readonly parts: Readonly<Record<string, number>>;
}

export interface MemoryReport {
  readonly before: MemoryUse;
  readonly peak: MemoryUse;
  readonly after: MemoryUse;
  /** Processor time of the stack during the measurement, s. */
  readonly cpuSeconds: number;
}

/** Sampling interval of the peak, ms. */
const SAMPLE_INTERVAL_MS = 1_000;
/** Time for memory to decrease after the work, ms. */
const SETTLE_TIMEOUT_MS = 20_000;

/** A process and its descendants; Linux only. */
export class ProcessTree {
  readonly #root: number;

  /** @param root process id */
  constructor(root: number) {
    this.#root = root;
  }

  read(): MemoryUse {
    const parts: Record<string, number> = {};
    let total = 0;
    for (const pid of this.#pids()) {
      const kib = Number(/^Pss:\s+(\d+)/m.exec(readProc(pid, "smaps_rollup"))?.[1] ?? 0);
      const name = programOf(pid);
      parts[name] = (parts[name] ?? 0) + kib / 1_024;
      total += kib / 1_024;
    }
    for (const [name, mib] of Object.entries(parts)) parts[name] = Math.round(mib);
    return { total: Math.round(total), parts };
  }

  /** Processor time of the processes and of their ended children since their start, s. */
  cpuSeconds(): number {
    return Object.values(this.cpuParts()).reduce((sum, part) => sum + part, 0);
  }

  /** Processor time by program. */
  cpuParts(): Record<string, number> {
    const parts: Record<string, number> = {};
    for (const pid of this.#pids()) {
      const fields = afterName(readProc(pid, "stat"));
      const name = programOf(pid);
      parts[name] = (parts[name] ?? 0) + fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100;
    }
    return parts;
  }

  /** Process ids of a program. */
  pidsOf(program: string): readonly number[] {
    return this.#pids().filter((pid) => programOf(pid) === program);
  }

  /** Measures memory before, at the peak of, and after the work. */
  async watch<T>(work: () => Promise<T>, sleep: (ms: number) => Promise<unknown>): Promise<{ result: T; memory: MemoryReport }> {
    const before = this.read();
    const cpu = this.cpuSeconds();
    let peak = before;
    const sample = (): void => {
      const now = this.read();
      if (now.total > peak.total) peak = now;
    };
    const timer = setInterval(sample, SAMPLE_INTERVAL_MS);
    try {
      const result = await work();
      sample();
      const cpuSeconds = Math.round((this.cpuSeconds() - cpu) * 10) / 10;
      await sleep(SETTLE_TIMEOUT_MS);
      return { result, memory: { before, peak, after: this.read(), cpuSeconds } };
    } finally {
      clearInterval(timer);
    }
  }

  #pids(): number[] {
    const children = new Map<number, number[]>();
    for (const entry of readdirSync("/proc")) {
      if (!/^\d+$/.test(entry)) continue;
      const parent = Number(afterName(readProc(Number(entry), "stat"))[1] ?? 0);
      const list = children.get(parent);
      if (list === undefined) children.set(parent, [Number(entry)]);
      else list.push(Number(entry));
    }
    const pids = [this.#root];
    for (const pid of pids) pids.push(...(children.get(pid) ?? []));
    return pids;
  }
}

/** Processes of the local stack whose folder is `data`; Linux only. */
export class StackMemory extends ProcessTree {
  constructor(data: string) {
    super(Number(readFileSync(join(data, "stack.pid"), "utf8").trim().split("\n")[0]));
  }
}

/** Fields of /proc/PID/stat from the state on; the name before it may contain any character. */
function afterName(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** Returns an empty text for a process that has exited. */
function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Names of servers as the words of their command lines begin; versions may follow. */
const SERVER = /^(?:postgres|nats|etcd|kube-apiserver|kube-controller-manager|versitygw)/;

function programOf(pid: number): string {
  const words = readProc(pid, "cmdline").split("\0");
  const service = words
    .map((word) => /services\/(?:plugins\/)?([^/]+)\/(?:dist|bundle)\/main\.js$/.exec(word)?.[1])
    .find((name) => name !== undefined);
  if (service !== undefined) return service;
  if (words.some((word) => word.endsWith("bench/dist/main.js"))) return "bench";
  if (words.some((word) => word.endsWith("/fork_server.py"))) return "python-fork-server";
  const parts = words[0]?.split(/[ /]/) ?? [];
  return parts.map((part) => SERVER.exec(part)?.[0]).find((name) => name !== undefined) ?? "stack";
}
