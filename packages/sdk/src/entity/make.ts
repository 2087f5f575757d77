import type { Outputs } from "../graph/reference-type.js";
import { callEntity } from "../graph/node.js";
import type { Fields } from "../type/type.js";
import { runChild } from "./children.js";
import { type Definition, define, interfaceOf, type Interface } from "./definition.js";
import type { AnyEntity, EntityKind } from "./entity.js";
import type { NodeOptions } from "./settings.js";

interface EntityParts {
  readonly kind: EntityKind;
  readonly inputs: Fields | undefined;
  readonly outputs: Outputs;
  /** Further properties, such as the function of a task. */
  readonly properties?: object;
  readonly definition: (entity: AnyEntity, own: Interface) => Definition;
}

/** Makes an entity: a function that adds a node, with `run` and its interface. */
export function makeEntity<E extends AnyEntity>({ kind, inputs = {}, outputs, properties, definition }: EntityParts): E {
  const call = (args?: unknown, options?: NodeOptions): object => callEntity(entity, args, options);
  const run = (args?: unknown): Promise<unknown> => runChild(entity, args);
  const entity = Object.assign(call, { ...properties, kind, inputs, outputs, run }) as unknown as E;
  define(definition(entity, interfaceOf(inputs, outputs)));
  return entity;
}
