import type { TaskKind, Topology } from "./workflows.js";

/** Topology, size and number of executions of one run. */
export interface Workload {
  readonly topology: Topology;
  readonly size: number;
  readonly taskKind: TaskKind;
  readonly executions: number;
  readonly sleepSeconds: number;
}

export interface WorkloadDefaults {
  readonly taskKind: string;
  readonly executions: number;
  readonly sleepSeconds: number;
}

/** Topologies and the number of sizes that may follow. */
const SIZE_ARGUMENTS: Readonly<Record<string, number>> = { chain: 1, "fan-out": 1, map: 1, sleep: 3 };

/**
 * Parses one workload after the other; undefined for other arguments. The size `20x100` means 20
 * executions of 100 nodes.
 */
export function parseWorkloads(args: readonly string[], defaults: WorkloadDefaults): Workload[] | undefined {
  const workloads: Workload[] = [];
  for (let at = 0; at < args.length; ) {
    const count = SIZE_ARGUMENTS[args[at] ?? ""];
    if (count === undefined) return undefined;
    const workload = parseWorkload(args.slice(at, at + 1 + count), defaults);
    if (workload === undefined) return undefined;
    workloads.push(workload);
    at += 1 + count;
  }
  return workloads;
}

function parseWorkload(
  [topology = "", ...rest]: readonly string[],
  { taskKind, executions, sleepSeconds }: WorkloadDefaults,
): Workload | undefined {
  const numbers = rest.flatMap((word) => word.split("x").map(Number));
  if (numbers.length === 0 || numbers.some((number) => !Number.isInteger(number) || number < 1)) return undefined;
  const [first = 0, second, third = 0] = numbers;
  if (topology === "sleep")
    return numbers.length === 3
      ? { topology: "fan-out", size: second ?? 0, taskKind: "core-sleep", executions: first, sleepSeconds: third }
      : undefined;
  if (
    (topology !== "chain" && topology !== "fan-out" && topology !== "map") ||
    (taskKind !== "echo" && taskKind !== "core-sleep") ||
    numbers.length > 2
  )
    return undefined;
  return { topology, taskKind, sleepSeconds, size: second ?? first, executions: second === undefined ? executions : first };
}

/** Formats a workload as {@link parseWorkloads} parses it. */
export function formatWorkload({ topology, size, executions }: Pick<Workload, "topology" | "size" | "executions">): string {
  return `${topology} ${executions === 1 ? "" : `${executions}x`}${size}`;
}
