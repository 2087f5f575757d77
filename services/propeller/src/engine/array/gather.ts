import { collectionLiteral, literalMap, noneLiteral } from "@flyte-ts/domain/literal";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/**
 * Collects an array's outputs: for each variable the list of its items' values, in item order. A
 * failed item contributes None. `names` are the statically known variables, so that an empty array
 * returns empty lists.
 */
export function collectItemOutputs(names: readonly string[], items: readonly (LiteralMap | undefined)[]): LiteralMap {
  const all = new Set(names);
  for (const item of items) for (const name of Object.keys(item?.literals ?? {})) all.add(name);
  const none = noneLiteral();
  const lists = new Map<string, Literal[]>([...all].map((name) => [name, []]));
  for (const item of items) for (const [name, list] of lists) list.push(item?.literals[name] ?? none);
  return literalMap([...lists].map(([name, list]) => [name, collectionLiteral(list)] as const));
}
