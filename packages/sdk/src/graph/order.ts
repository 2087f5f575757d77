import { GraphError } from "../entity/errors.js";
import type { Awaitable } from "../entity/settings.js";
import type { AnyType } from "../type/type.js";
import { currentGraph } from "./graph.js";
import { attribute, nodeIn, referenceIn } from "./reference.js";
import type { Ref, Reference } from "./reference-type.js";

/** Lets each node wait for the one before it, without data between them. */
export function chain(...nodes: readonly Awaitable[]): void {
  const graph = currentGraph("chain()");
  const ids = nodes.map((node) => {
    const id = nodeIn(node);
    if (id === undefined) throw new GraphError("chain() takes what calls of nodes return");
    return id;
  });
  for (const [i, id] of ids.entries()) {
    const before = ids[i - 1];
    if (before === undefined || before === "") continue;
    const node = graph.node(id);
    if (node === undefined) throw new GraphError(`chain() takes nodes of the graph that is being built; ${id} is none`);
    if (!node.upstreamNodeIds.includes(before)) node.upstreamNodeIds.push(before);
  }
}

/**
 * Returns an attribute by name, for fields with a name that references use themselves: `then`,
 * `toString`.
 */
export function attr<T extends AnyType = AnyType>(of: Reference<AnyType>, key: string | number): Ref<T> {
  const source = referenceIn(of);
  if (source === undefined) throw new GraphError("attr() expects a reference: an input of the workflow or a result of a node");
  return attribute(source, key) as Ref<T>;
}
