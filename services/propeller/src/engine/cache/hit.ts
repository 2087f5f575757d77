import { literalTypeOf } from "@flyte-ts/domain/literal";
import { isCastable } from "@flyte-ts/domain/type";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { CachedOutputs } from "../calls/catalog.js";

/**
 * True when found outputs are usable for the task: they have its names and types, and are not too
 * old.
 */
export function isHit(found: CachedOutputs | undefined, template: TaskTemplate, { now, maxAge }: { now: number; maxAge: number }): boolean {
  if (found === undefined || (maxAge > 0 && now - found.createdAt > maxAge)) return false;
  const variables = template.interface?.outputs?.variables ?? {};
  const names = Object.keys(variables);
  if (names.length !== Object.keys(found.outputs.literals).length) return false;
  return names.every((name) => {
    const literal = found.outputs.literals[name];
    const wanted = variables[name]?.type;
    const given = literal === undefined ? undefined : literalTypeOf(literal);
    return wanted !== undefined && given !== undefined && isCastable(given, wanted);
  });
}
