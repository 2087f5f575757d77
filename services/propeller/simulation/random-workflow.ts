import {
  type ArraySpec,
  type BranchSpec,
  DYNAMIC,
  type GraphSpec,
  type NodeSpec,
  type Source,
  type TaskSpec,
  type WorkflowSpec,
} from "./fixtures/workflow.js";
import type { Random } from "./random.js";

/**
 * A workflow of a random shape: chains, fans, diamonds, branches, sub-workflows, failure nodes,
 * retries, deadlines, both failure policies.
 */
export function randomWorkflow(random: Random): WorkflowSpec {
  const graphs: Record<string, GraphSpec> = {};
  const subs = random.int(3);
  for (let i = 0; i < subs; i++)
    graphs[`sub${i}`] = randomGraph(random, {
      graphs: Object.keys(graphs),
      launchPlans: [],
      dynamics: [],
      nodes: 1 + random.int(4),
    });
  const launchPlans: Record<string, WorkflowSpec> = {};
  const dynamics: Record<string, GraphSpec> = {};
  // A graph may use the graphs, launch plans and dynamic specs created before it.
  const limits = (nodes: number): GraphLimits => ({
    graphs: Object.keys(graphs),
    launchPlans: Object.keys(launchPlans),
    dynamics: Object.keys(dynamics),
    nodes,
  });
  for (let i = random.int(3); i > 0; i--) dynamics[`made${i}`] = randomGraph(random, { ...limits(1 + random.int(4)), closed: true });
  for (let i = random.int(3); i > 0; i--) {
    const maxParallelism = random.chance(0.3) ? 1 : 0;
    launchPlans[`plan${i}`] = {
      main: randomGraph(random, limits(1 + random.int(3))),
      graphs: { ...graphs },
      inputs: { a: 0 },
      maxParallelism,
    };
  }
  const main = randomGraph(random, limits(1 + random.int(8)));
  return {
    main,
    graphs,
    launchPlans,
    dynamics,
    inputs: { a: random.int(10) },
    maxParallelism: random.chance(0.4) ? 1 + random.int(3) : 0,
    interruptible: random.chance(0.2),
  };
}

interface GraphLimits {
  readonly graphs: readonly string[];
  readonly launchPlans: readonly string[];
  readonly dynamics: readonly string[];
  readonly nodes: number;
  /** Nodes that a task produces bind nothing from outside. */
  readonly closed?: boolean;
}

function randomGraph(random: Random, { graphs, launchPlans, dynamics, nodes, closed = false }: GraphLimits): GraphSpec {
  const made: Record<string, NodeSpec> = {};
  // Probability that a node binds the previous one: from fans to chains.
  const chained = random.next();
  for (let i = 0; i < nodes; i++) {
    const ids = Object.keys(made);
    const sources = nodesWithOutputs(made);
    const source = (): Source => {
      if (sources.length === 0 || random.chance(0.2)) return closed ? random.int(10) : ".a";
      const id = random.chance(chained) ? (sources.at(-1) ?? "") : random.pick(sources);
      const list = made[id]?.kind === "array" && random.chance(0.8);
      return `${id}.o0${list ? "[0]" : ""}`;
    };
    made[`n${i}`] = randomNode(random, {
      graphs,
      launchPlans,
      dynamics,
      source,
      after: ids.length > 0 && random.chance(0.2) ? [random.pick(ids)] : [],
    });
  }
  const last = nodesWithOutputs(made).at(-1);
  return {
    nodes: made,
    outputs: { o0: last === undefined ? 0 : `${last}.o0` },
    finishExecutable: random.chance(0.3),
    ...(!closed && random.chance(0.3) ? { onFailure: failureNode(random, graphs) } : {}),
  };
}

/** Ids of nodes with outputs: the compiler rejects bindings to others. */
function nodesWithOutputs(nodes: Readonly<Record<string, NodeSpec>>): string[] {
  return Object.keys(nodes).filter((id) => nodes[id]?.kind !== "sleep");
}

function failureNode(random: Random, graphs: readonly string[]): NodeSpec {
  if (graphs.length > 0 && random.chance(0.3)) return { kind: "sub", graph: random.pick(graphs), inputs: { a: ".a" } };
  return { kind: "task", inputs: { a: ".a", err: 0 }, timeoutMs: 60_000, activeMs: 200_000 };
}

interface NodeParts {
  readonly graphs: readonly string[];
  readonly launchPlans: readonly string[];
  readonly dynamics: readonly string[];
  readonly source: () => Source;
  readonly after: readonly string[];
}

function randomNode(random: Random, { graphs, launchPlans, dynamics, source, after }: NodeParts): NodeSpec {
  const kind = random.next();
  if (kind < 0.05) return { kind: "sleep", ms: random.pick([0, 50, 2_000, 30_000]), after };
  if (kind < 0.2) return { ...randomBranch(random, { graphs, source }), after };
  if (kind < 0.35 && graphs.length > 0) return { kind: "sub", graph: random.pick(graphs), inputs: { a: source() }, after };
  if (kind < 0.5 && launchPlans.length > 0) {
    const timeoutMs = random.chance(0.2) ? 5_000 : 1_500_000;
    return { kind: "launch", launchPlan: random.pick(launchPlans), inputs: { a: source() }, after, timeoutMs, attempts: 1 + random.int(2) };
  }
  if (kind < 0.62 && dynamics.length > 0) {
    const timeoutMs = random.chance(0.2) ? 3_000 : 1_500_000;
    return { ...randomTask(random, source), type: `${DYNAMIC}${random.pick(dynamics)}`, after, timeoutMs, activeMs: 3_000_000 };
  }
  if (kind < 0.66) {
    const timeoutMs = random.pick([2_000, 100_000]);
    const signal = `s${random.int(3)}`;
    return random.chance(0.5)
      ? { kind: "signal", signal: `${signal}n`, after, timeoutMs }
      : { kind: "approve", signal: `${signal}b`, inputs: { o0: source() }, after, timeoutMs };
  }
  if (kind < 0.8) return { ...randomArray(random, { graphs, launchPlans, source }), after };
  return { ...randomTask(random, source), after };
}

/** Lists of numbers, or of other nodes' outputs. */
function randomArray(random: Random, { graphs, launchPlans, source }: Pick<NodeParts, "graphs" | "launchPlans" | "source">): ArraySpec {
  const { inputs: _, ...task } = randomTask(random, source);
  const kind = random.next();
  const run: ArraySpec["run"] =
    kind < 0.15 && graphs.length > 0
      ? { kind: "sub", graph: random.pick(graphs) }
      : kind < 0.3 && launchPlans.length > 0
        ? { kind: "launch", launchPlan: random.pick(launchPlans), timeoutMs: 1_500_000 }
        : task;
  const a = Array.from({ length: random.int(6) }, () => (random.chance(0.3) ? source() : random.int(10)));
  return {
    kind: "array",
    run,
    lists: { a },
    ...(random.chance(0.2) ? { bound: { b: source() } } : {}),
    ...(random.chance(0.5) ? { parallelism: random.int(4) } : {}),
    ...(random.chance(0.3) ? { minRatio: random.pick([0, 0.3, 0.5, 0.9]) } : random.chance(0.2) ? { minSuccesses: random.int(3) } : {}),
    ...(random.chance(0.1) ? { timeoutMs: 3_000 } : {}),
  };
}

function randomTask(random: Random, source: () => Source): TaskSpec {
  const inputs: Record<string, Source> = { a: source() };
  if (random.chance(0.4)) inputs["b"] = source();
  return {
    kind: "task",
    inputs,
    ...(random.chance(0.4) ? { attempts: 1 + random.int(3) } : {}),
    // Every node has a deadline, so that a hanging attempt does not hang the execution.
    timeoutMs: random.chance(0.2) ? 1_000 : 120_000,
    activeMs: random.chance(0.1) ? 3_000 : 400_000,
  };
}

function randomBranch(random: Random, { graphs, source }: Pick<NodeParts, "graphs" | "source">): BranchSpec {
  const arm = (): NodeSpec =>
    graphs.length > 0 && random.chance(0.25)
      ? { kind: "sub", graph: random.pick(graphs), inputs: { a: source() } }
      : randomTask(random, source);
  const arms = [{ below: 3 + random.int(4), run: arm() }];
  if (random.chance(0.5)) arms.push({ below: 8, run: arm() });
  return {
    kind: "branch",
    on: source(),
    arms,
    ...(random.chance(0.8) ? { otherwise: arm() } : { error: "no arm" }),
    ...(random.chance(0.2) ? { timeoutMs: 5_000 } : {}),
  };
}
