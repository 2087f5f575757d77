import { AsyncLocalStorage } from "node:async_hooks";
import type { Node } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { GraphError } from "../entity/errors.js";
import type { Compilation } from "./compilation.js";

/** The nodes of one graph while it is being built. */
export class Graph {
  readonly nodes: Node[] = [];
  private readonly ids = new Set<string>();
  private count = 0;

  constructor(
    readonly compilation: Compilation,
    /** Name of the workflow, for messages and for the workflows that arms become. */
    readonly name: string,
    /** Begins the ids of the nodes: those of the arms of a branch differ from those around it. */
    private readonly prefix = "",
  ) {}

  /** Reserves the id of a new node: its own name, or the next number. */
  reserveId(name: string | undefined): string {
    const number = `${this.prefix}n${this.count++}`;
    const id = name ?? number;
    if (!/^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/.test(id))
      throw new GraphError(`the node name ${JSON.stringify(id)} of ${this.name} must consist of letters, digits and dashes`);
    if (this.ids.has(id)) throw new GraphError(`${this.name} has two nodes named ${id}`);
    this.ids.add(id);
    return id;
  }

  add(node: Node): void {
    this.nodes.push(node);
  }

  has(nodeId: string): boolean {
    return this.ids.has(nodeId);
  }

  node(nodeId: string): Node | undefined {
    return this.nodes.find(({ id }) => id === nodeId);
  }
}

const building = new AsyncLocalStorage<Graph>();

/**
 * Returns the graph that is being built.
 *
 * @throws GraphError outside of one
 */
export function currentGraph(called: string): Graph {
  const graph = building.getStore();
  if (graph === undefined)
    throw new GraphError(`${called} was called outside of a function that builds a graph; await ${called}.run({…}) gives its values`);
  return graph;
}

/** Runs a function that adds nodes to this graph. */
export function within<R>(graph: Graph, build: () => R): R {
  const result = building.run(graph, build);
  if (result instanceof Promise) {
    result.catch(() => undefined);
    throw new GraphError(`the function that builds ${graph.name} is asynchronous; await belongs in eager()`);
  }
  return result;
}
