import type { KnownGraph } from "../scene/graph-set.js";
import { containedGraph, type OpenState, pathIn } from "../scene/place-graph.js";

/** Nodes that are shown when all are open, at most: a workflow may be contained many times. */
const MAX_SHOWN = 20_000;

interface Waiting {
  readonly known: KnownGraph;
  readonly key: number;
  readonly path: string;
}

/** Visits the paths of all nodes that contain a known graph, level by level. */
export function openAll(root: KnownGraph, state: OpenState, visit: (path: string) => void): void {
  const waiting: Waiting[] = [{ known: root, key: 0, path: "" }];
  let shown = root.graph.length;
  for (const { known, key, path } of waiting) {
    const nodes = state.live.childrenOf(key);
    for (const [row, id] of known.graph.ids.entries()) {
      const live = nodes.get(id);
      const inner = containedGraph(known, row, live, state);
      if (inner === undefined || shown + inner.graph.length > MAX_SHOWN) continue;
      shown += inner.graph.length;
      visit(pathIn(path, id));
      waiting.push({ known: inner, key: live?.key ?? -1, path: pathIn(path, id) });
    }
  }
}
