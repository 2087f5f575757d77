import type { Binding } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/**
 * Shares equal bindings among a graph's nodes: a wide graph binds one output, or one of its own
 * inputs, 100,000 times. Only bindings of whole outputs are shared.
 */
export class BindingInterner {
  readonly #byKey = new Map<string, Binding>();

  intern(binding: Binding): Binding {
    const data = binding.binding?.value;
    if (data?.case !== "promise" || data.value.attrPath.length > 0 || binding.binding?.union !== undefined) return binding;
    const key = `${data.value.nodeId}\n${data.value.var}\n${binding.var}`;
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    this.#byKey.set(key, binding);
    return binding;
  }
}
