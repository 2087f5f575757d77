import type { Binding } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/**
 * Bindings of a graph's nodes, of which many may be alike: a graph that spreads out binds one output, or one input of
 * its own, 100,000 times. Those that take a whole output are made once.
 */
export class SharedBindings {
  readonly #whole = new Map<string, Binding>();

  of(binding: Binding): Binding {
    const data = binding.binding?.value;
    if (data?.case !== "promise" || data.value.attrPath.length > 0 || binding.binding?.union !== undefined) return binding;
    const key = `${data.value.nodeId}\n${data.value.var}\n${binding.var}`;
    const known = this.#whole.get(key);
    if (known !== undefined) return known;
    this.#whole.set(key, binding);
    return binding;
  }
}
