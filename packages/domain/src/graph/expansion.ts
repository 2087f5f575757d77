/** One graph of nodes, as far as its expansion depends on it. */
export interface GraphUse {
  /** Shown in errors. */
  readonly name: string;
  /** Number of its own nodes. */
  readonly nodes: number;
  /** Keys of the sub-workflows that its nodes run, one per such node. */
  readonly subWorkflows: readonly string[];
}

export interface ExpansionLimits {
  /** Maximum of node instances in total; 0 means no limit. */
  readonly maxInstances: number;
  /** Maximum nesting of graphs, the outermost included; 0 means no limit. */
  readonly maxDepth: number;
}

export interface Expansion {
  /**
   * Nodes of the graph and of all its sub-workflows, a sub-workflow counted once per node that runs
   * it. Approximate above 2^53, `Infinity` above 1e308.
   */
  readonly instances: number;
  /** Nesting of graphs, the outermost included. */
  readonly depth: number;
}

/** The graph exceeds a limit of expansion; the message names the rule and the count. */
export class ExpansionError extends Error {
  override readonly name = "ExpansionError";
}

interface Visit {
  readonly key: string | undefined;
  readonly use: GraphUse;
  next: number;
  instances: number;
  depth: number;
}

/**
 * Computes the number of node instances of a graph with every sub-workflow expanded. Each
 * sub-workflow is visited once, so the cost is that of reading the graphs. Sub-workflows unknown to
 * `find` count nothing.
 *
 * @throws ExpansionError when a sub-workflow contains itself.
 */
export function expansionOf(root: GraphUse, find: (key: string) => GraphUse | undefined): Expansion {
  const known = new Map<string, Expansion>();
  // Uses an explicit stack: sub-workflows may nest thousands of levels deep.
  const path = [newVisit(undefined, root)];
  const onPath = new Set<string>();
  for (;;) {
    const top = path[path.length - 1] as Visit;
    const key = top.use.subWorkflows[top.next];
    if (key === undefined) {
      const done = { instances: top.instances, depth: top.depth };
      path.pop();
      if (top.key === undefined) return done;
      onPath.delete(top.key);
      known.set(top.key, done);
      continue;
    }
    const below = known.get(key);
    if (below !== undefined) {
      top.instances += below.instances;
      top.depth = Math.max(top.depth, below.depth + 1);
      top.next++;
      continue;
    }
    if (onPath.has(key)) throw new ExpansionError(cycleMessage(path, key));
    const use = find(key);
    if (use === undefined) {
      top.next++;
      continue;
    }
    onPath.add(key);
    path.push(newVisit(key, use));
  }
}

/** @throws ExpansionError when the expansion exceeds a limit. */
export function checkExpansion(name: string, { instances, depth }: Expansion, { maxInstances, maxDepth }: ExpansionLimits): void {
  if (maxDepth > 0 && depth > maxDepth) {
    throw new ExpansionError(`workflow [${name}] nests sub-workflows ${depth} deep, the limit is ${maxDepth}`);
  }
  if (maxInstances > 0 && instances > maxInstances) {
    throw new ExpansionError(
      `workflow [${name}] comes to ${instances} node instances when its sub-workflows are expanded, the limit is ${maxInstances}`,
    );
  }
}

function newVisit(key: string | undefined, use: GraphUse): Visit {
  return { key, use, next: 0, instances: use.nodes, depth: 1 };
}

function cycleMessage(path: readonly Visit[], key: string): string {
  const names = path.slice(path.findIndex((visit) => visit.key === key)).map(({ use }) => use.name);
  return `sub-workflow [${names[0] ?? key}] contains itself: ${[...names, names[0] ?? key].join(" -> ")}`;
}
