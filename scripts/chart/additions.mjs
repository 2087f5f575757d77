// Merges the additions of a component into manifests, under the component's condition.
import { isDeepStrictEqual } from "node:util";
import { When } from "./tree.mjs";

/** Unique name of an object. */
export const idOf = ({ apiVersion, kind, metadata }) => `${apiVersion} ${kind} ${metadata.name}`;

/**
 * Adds to `target` what `after` has and `before` lacks.
 *
 * @param target manifest to change; other components may have changed it before
 * @param before the manifest without any component
 * @param after the manifest with the component
 * @throws when the component does more than adding entries to maps and items at the ends of lists
 */
export function addWhen({ target, before, after, condition, path = "" }) {
  if (isDeepStrictEqual(before, after)) return;
  if (Array.isArray(before) && Array.isArray(after)) {
    if (after.length < before.length) throw new Error(`${path}: a component of the chart cannot take items away`);
    for (const [index, item] of before.entries()) {
      addWhen({ target: target[index], before: item, after: after[index], condition, path: `${path}/${index}` });
    }
    target.push(...after.slice(before.length).map((item) => new When(condition, item)));
    return;
  }
  if (typeof before !== "object" || typeof after !== "object" || before === null || after === null) {
    throw new Error(`${path}: a component of the chart cannot change a value`);
  }
  for (const key of Object.keys(before)) {
    if (!(key in after)) throw new Error(`${path}/${key}: a component of the chart cannot take an entry away`);
    addWhen({ target: target[key], before: before[key], after: after[key], condition, path: `${path}/${key}` });
  }
  for (const key of Object.keys(after)) if (!(key in before)) target[key] = new When(condition, after[key]);
}
