import { CPU, type Counters } from "./stack-counters.js";

/** Increase of the counters by a number of executions. */
export interface CostSample {
  readonly executions: number;
  /** Nodes of each execution. */
  readonly nodes: number;
  readonly counters: Counters;
}

/** Cost of an execution without nodes, and of each of its nodes. */
export interface Cost {
  readonly perExecution: Counters;
  readonly perNode: Counters;
}

/** A program that runs in several processes, and the cores that one process can use. */
interface Tier {
  readonly program: string;
  readonly name: string;
  readonly cores: number;
}

/**
 * Programs that are sized by their number of processes. One process of Node.js uses little more
 * than one core: its other threads collect garbage.
 */
const TIERS: readonly Tier[] = [
  { program: "admin", name: "admin", cores: 1.2 },
  { program: "propeller", name: "propeller", cores: 1.2 },
  { program: "echo", name: "echo plugin", cores: 1.2 },
];

/** Greatest cost, in the unit of its counter, that counts as none. */
const NOISE = 0.05;

/** Share of a process's cores that the sizes count with; the rest absorbs bursts. */
const UTILIZATION = 0.6;

/**
 * Separates the cost of executions from that of their nodes, by two samples with different numbers
 * of nodes. Counters that stay almost the same are left out; single costs below zero, which are
 * noise, become zero.
 *
 * @throws Error when both have the same number of nodes
 */
export function separateCosts(one: CostSample, other: CostSample): Cost {
  if (one.nodes === other.nodes) throw new Error("samples with the same number of nodes cannot be separated");
  const names = [...new Set([...Object.keys(one.counters), ...Object.keys(other.counters)])].toSorted();
  const perNode: Record<string, number> = {};
  const perExecution: Record<string, number> = {};
  for (const name of names) {
    const [first, second] = [one, other].map(({ counters, executions }) => (counters[name] ?? 0) / executions) as [number, number];
    const slope = (second - first) / (other.nodes - one.nodes);
    const fixed = first - slope * one.nodes;
    if (slope < NOISE && fixed < NOISE) continue;
    perNode[name] = Math.max(0, slope);
    perExecution[name] = Math.max(0, fixed);
  }
  return { perExecution, perNode };
}

/** Cost per node of executions with that many nodes. */
export function costPerNode({ perExecution, perNode }: Cost, nodesPerExecution: number): Counters {
  return Object.fromEntries(Object.entries(perNode).map(([name, value]) => [name, value + (perExecution[name] ?? 0) / nodesPerExecution]));
}

/** Formats the costs of an execution and of a node as a table. */
export function costTable({ perExecution, perNode }: Cost): string {
  const rows = Object.keys(perNode).map((name) => {
    const unit = name.startsWith(CPU) ? `${name.slice(CPU.length)}, ms of processor time` : name;
    return `| ${unit} | ${short(perExecution[name] ?? 0)} | ${short(perNode[name] ?? 0)} |`;
  });
  return ["| resource | per execution | per node |", "|---|---|---|", ...rows].join("\n");
}

/** Formats what rates of nodes need, for executions with that many nodes. */
export function sizingTable(
  cost: Cost,
  { rates, nodesPerExecution }: { readonly rates: readonly number[]; readonly nodesPerExecution: number },
): string {
  const each = costPerNode(cost, nodesPerExecution);
  const cores = (program: string, rate: number): number => (rate * (each[`${CPU}${program}`] ?? 0)) / 1_000;
  const perSecond = (name: string) => (rate: number) => short(rate * (each[name] ?? 0));
  const servers = Object.keys(each).filter((name) => name.startsWith(CPU) && !TIERS.some(({ program }) => name === `${CPU}${program}`));
  const rows: readonly (readonly [string, (rate: number) => string])[] = [
    ...TIERS.map(({ program, name, cores: own }) => {
      const processes = (rate: number) => Math.ceil(cores(program, rate) / (own * UTILIZATION));
      return [`${name}: processes (cores)`, (rate: number) => `${processes(rate)} (${short(cores(program, rate))})`] as const;
    }),
    ...servers.map((name) => [`${name.slice(CPU.length)}: cores`, (rate: number) => short(cores(name.slice(CPU.length), rate))] as const),
    ["Kubernetes: writes per second", perSecond("Kubernetes writes")],
    ["PostgreSQL: transactions per second", perSecond("PostgreSQL commits")],
    ["PostgreSQL: log, MB/s", (rate) => short((rate * (each["PostgreSQL log bytes"] ?? 0)) / 1e6)],
    [
      "NATS: in, out, MB/s",
      (rate) => `${short((rate * (each["NATS bytes in"] ?? 0)) / 1e6)}, ${short((rate * (each["NATS bytes out"] ?? 0)) / 1e6)}`,
    ],
  ];
  const head = `| nodes per second | ${rates.map((rate) => rate.toLocaleString("en")).join(" | ")} |`;
  return [
    head,
    `|---${"|---".repeat(rates.length)}|`,
    ...rows.map(([name, value]) => `| ${name} | ${rates.map(value).join(" | ")} |`),
  ].join("\n");
}

/** Two significant digits, whole from ten on. */
function short(value: number): string {
  return value >= 10 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(2)));
}
