import { readFileSync, readdirSync } from "node:fs";
import type { RunningStack, StackPart } from "../../stack/stack-fixture.js";
import type { StackLinks } from "./links.js";
import type { Disk, SmallDisks } from "./small-disks.js";

/** A temporary fault of some parts of a stack. */
export type Fault =
  | { readonly kind: "stopped" | "killed" | "blackhole"; readonly parts: readonly StackPart[] }
  | { readonly kind: "disk full"; readonly disk: Disk };

export interface FaultyParts {
  readonly stack: RunningStack;
  readonly links: StackLinks;
  readonly disks: SmallDisks | undefined;
}

/** Parts whose exit or full disk ends task processes. */
const RUNS_PODS = new Set<string>(["local-cluster", "cluster"]);

export function formatFault(fault: Fault): string {
  return fault.kind === "disk full" ? `disk of ${fault.disk} full` : `${fault.parts.join(", ")} ${fault.kind}`;
}

/** Reports whether the fault may kill task processes. */
export function killsPods(fault: Fault): boolean {
  return fault.kind === "disk full" ? RUNS_PODS.has(fault.disk) : fault.parts.some((part) => RUNS_PODS.has(part));
}

/** Begins a fault. Returns the function that ends it. */
export function beginFault(fault: Fault, { stack, links, disks }: FaultyParts): () => void {
  switch (fault.kind) {
    case "stopped": {
      const pids = fault.parts.flatMap((part) => stack.pids(part).flatMap(processTree));
      for (const pid of pids) signal(pid, "SIGSTOP");
      return () => {
        for (const pid of pids) signal(pid, "SIGCONT");
      };
    }
    case "killed":
      for (const pid of fault.parts.flatMap((part) => stack.pids(part))) signal(pid, "SIGKILL");
      return () => undefined;
    case "blackhole":
      for (const part of fault.parts) links.setSilent(part, true);
      return () => {
        for (const part of fault.parts) links.setSilent(part, false);
      };
    case "disk full":
      disks?.fill(fault.disk);
      return () => disks?.empty(fault.disk);
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // A process that has exited needs no signal.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A process and its PostgreSQL backends. */
function processTree(pid: number): number[] {
  const others = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return [pid, ...others.map(Number).filter((other) => isBackend(other, pid))];
}

function isBackend(pid: number, parent: number): boolean {
  try {
    const [, command, , ppid] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return command === "postgres" && Number(ppid) === parent;
  } catch {
    return false;
  }
}
