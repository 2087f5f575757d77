/** One graph of nodes, as far as its expansion depends on it. */
export interface GraphUse {
  /** Shown in errors. */
  readonly name: string;
  /** Nodes of its own. */
  readonly nodes: number;
  /** Keys of the sub-workflows that its nodes run, one for each node that runs one. */
  readonly subWorkflows: readonly string[];
}

export interface ExpansionLimits {
  /** Node instances in all; 0 means no limit. */
  readonly maxInstances: number;
  /** Graphs that stand in one another, the outermost included; 0 means no limit. */
  readonly maxDepth: number;
}

export interface Expansion {
  /** Nodes of the graph with those of all its sub-workflows, a sub-workflow counted as often as nodes run it. Above 2^53 it is about right, above 1e308 `Infinity`. */
  readonly instances: number;
  /** Graphs that stand in one another, the outermost included. */
  readonly depth: number;
}

/** A graph that must not be expanded; the message names the rule and the count. */
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
 * Computes how many node instances a graph comes to when every sub-workflow in it is expanded. Each sub-workflow is looked at once,
 * whatever the number of nodes that run it, so the cost is that of reading the graphs. Sub-workflows that `find` does not know count nothing.
 *
 * @throws ExpansionError when a sub-workflow contains itself.
 */
export function expansionOf(root: GraphUse, find: (key: string) => GraphUse | undefined): Expansion {
  const known = new Map<string, Expansion>();
  // With a stack of its own: sub-workflows may stand thousands deep in one another.
  const path = [begin(undefined, root)];
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
    path.push(begin(key, use));
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

function begin(key: string | undefined, use: GraphUse): Visit {
  return { key, use, next: 0, instances: use.nodes, depth: 1 };
}

function cycleMessage(path: readonly Visit[], key: string): string {
  const names = path.slice(path.findIndex((visit) => visit.key === key)).map(({ use }) => use.name);
  return `sub-workflow [${names[0] ?? key}] contains itself: ${[...names, names[0] ?? key].join(" -> ")}`;
}
