import { create } from "@bufbuild/protobuf";
import { START_NODE } from "@flyte-ts/domain/graph";
import { compareText } from "@flyte-ts/domain/type";
import { type ConnectionSet, ConnectionSet_IdListSchema, ConnectionSetSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";

type Adjacency = Map<string, Set<string>>;

/**
 * Edges between nodes. The two directions are kept apart: nodes within a branch (its cases, its
 * condition's inputs) and the failure node have upstream nodes only, and no path reaches them.
 */
export class Graph {
  private readonly downstream: Adjacency = new Map();
  private readonly upstream: Adjacency = new Map();

  addEdge(from: string, to: string): void {
    addNeighbour(this.downstream, from, to);
    this.addUpstream(from, to);
  }

  addUpstream(from: string, to: string): void {
    addNeighbour(this.upstream, to, from);
  }

  hasUpstream(id: string): boolean {
    return this.upstream.has(id);
  }

  hasDownstream(id: string): boolean {
    return this.downstream.has(id);
  }

  /** Sorts lists of ids, so that a graph has one form whatever the order of its nodes. */
  connections(): ConnectionSet {
    const connections = create(ConnectionSetSchema);
    connections.downstream = idLists(this.downstream);
    connections.upstream = idLists(this.upstream);
    return connections;
  }

  /**
   * Walks from the start and returns either the path into the first cycle, ending with the node
   * that closes it, or the visited nodes. Neighbours are visited in order of their ids. Linear,
   * without recursion: a chain may have any length.
   */
  findCycleOrVisited(): { readonly cycle: readonly string[] } | { readonly visited: ReadonlySet<string> } {
    const visited = new Set([START_NODE]);
    const onPath = new Set([START_NODE]);
    const stack = [{ id: START_NODE, next: this.neighbours(START_NODE), at: 0 }];
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const id = top.next[top.at++];
      if (id === undefined) {
        onPath.delete(top.id);
        stack.pop();
      } else if (onPath.has(id)) {
        return { cycle: [...stack.map((entry) => entry.id), id] };
      } else if (!visited.has(id)) {
        visited.add(id);
        onPath.add(id);
        stack.push({ id, next: this.neighbours(id), at: 0 });
      }
    }
    return { visited };
  }

  private neighbours(id: string): string[] {
    return sorted(this.downstream.get(id) ?? []);
  }
}

function addNeighbour(adjacency: Adjacency, key: string, value: string): void {
  const values = adjacency.get(key);
  if (values === undefined) adjacency.set(key, new Set([value]));
  else values.add(value);
}

function sorted(ids: Iterable<string>): string[] {
  return [...ids].sort(compareText);
}

function idLists(adjacency: Adjacency): ConnectionSet["downstream"] {
  return Object.fromEntries([...adjacency].map(([id, ids]) => [id, create(ConnectionSet_IdListSchema, { ids: sorted(ids) })]));
}
