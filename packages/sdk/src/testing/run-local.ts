import { definitionOf } from "../entity/definition.js";
import type { Entity } from "../entity/entity.js";
import type { Outputs, Received } from "../graph/reference-type.js";
import type { LocalOptions, NodeRecord } from "../local/options.js";
import { runDefinition } from "../local/run.js";
import type { Fields, Given } from "../type/type.js";

/** Outputs and nodes of a local run. */
export interface LocalRun<Out> {
  readonly outputs: Out;
  readonly nodes: readonly NodeRecord[];
  /** HTML of each page of the deck. */
  readonly decks: Readonly<Record<string, string>>;
}

/** Mocks, answers of gates, secrets and the cache of a local run. */
export type RunLocalOptions = LocalOptions;

/**
 * Runs an entity in this process, as the server would: values between nodes are encoded and
 * decoded, and attempts, caches, branches and gates work.
 *
 * @throws NodeFailed for the first node that failed
 */
export async function runLocal<I extends Fields, O extends Outputs>(
  entity: Entity<I, O>,
  inputs: Given<I>,
  options: RunLocalOptions = {},
): Promise<LocalRun<Received<O>>> {
  const { outputs, nodes, decks } = await runDefinition(definitionOf(entity), inputs, options);
  return { outputs: outputs as Received<O>, nodes, decks };
}
