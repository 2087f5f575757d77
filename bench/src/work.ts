import type { Leaf, Shape } from "./workflows.js";

/** Topology, size and number of executions of one run. */
export interface Work {
  readonly shape: Shape;
  readonly size: number;
  readonly leaf: Leaf;
  readonly executions: number;
  readonly sleepSeconds: number;
}

export interface WorkDefaults {
  readonly leaf: string;
  readonly executions: number;
  readonly sleepSeconds: number;
}

/** Topologies and the number of sizes that may follow. */
const NUMBERS: Readonly<Record<string, number>> = { chain: 1, "fan-out": 1, map: 1, sleep: 3 };

/**
 * Parses one workload after the other; undefined for other arguments. The size `20x100` means 20
 * executions of 100 nodes.
 */
export function readWorks(words: readonly string[], defaults: WorkDefaults): Work[] | undefined {
  const works: Work[] = [];
  for (let at = 0; at < words.length; ) {
    const count = NUMBERS[words[at] ?? ""];
    if (count === undefined) return undefined;
    const work = readWork(words.slice(at, at + 1 + count), defaults);
    if (work === undefined) return undefined;
    works.push(work);
    at += 1 + count;
  }
  return works;
}

function readWork([shape = "", ...rest]: readonly string[], { leaf, executions, sleepSeconds }: WorkDefaults): Work | undefined {
  const numbers = rest.flatMap((word) => word.split("x").map(Number));
  if (numbers.length === 0 || numbers.some((number) => !Number.isInteger(number) || number < 1)) return undefined;
  const [first = 0, second, third = 0] = numbers;
  if (shape === "sleep")
    return numbers.length === 3
      ? { shape: "fan-out", size: second ?? 0, leaf: "core-sleep", executions: first, sleepSeconds: third }
      : undefined;
  if ((shape !== "chain" && shape !== "fan-out" && shape !== "map") || (leaf !== "echo" && leaf !== "core-sleep") || numbers.length > 2)
    return undefined;
  return { shape, leaf, sleepSeconds, size: second ?? first, executions: second === undefined ? executions : first };
}

/** Formats a workload as {@link readWorks} parses it. */
export function nameOfWork({ shape, size, executions }: Pick<Work, "shape" | "size" | "executions">): string {
  return `${shape} ${executions === 1 ? "" : `${executions}x`}${size}`;
}
