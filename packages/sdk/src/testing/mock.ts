import type { Entity } from "../entity/entity.js";
import type { Outputs, Returned } from "../graph/reference-type.js";
import type { MockEntry } from "../local/options.js";
import type { Fields, Values } from "../type/type.js";

/** Stands for an entity in local runs; counts its calls. */
export interface Mock extends MockEntry {
  /** Inputs of each call. */
  readonly calls: readonly unknown[];
}

/** Replaces an entity in local runs; the function may throw RecoverableError. */
export function mock<I extends Fields, O extends Outputs>(
  entity: Entity<I, O>,
  fn: (inputs: Values<I>) => Returned<O> | Promise<Returned<O>>,
): Mock {
  const calls: unknown[] = [];
  const answer = (inputs: unknown): unknown => {
    calls.push(inputs);
    return fn(inputs as Values<I>);
  };
  return { entity, answer, calls };
}
