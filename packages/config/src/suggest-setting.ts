import { schemaAtPath, settingPaths, objectShape } from "./zod-introspection.js";

/** Normalizes a name for comparison: without case, `_` and `-`. */
export const normalizeKey = (key: string): string => key.toLowerCase().replaceAll("_", "").replaceAll("-", "");

/**
 * Suggests the dotted path of the setting closest to an unknown key: a similar sibling first, else
 * an equal name elsewhere.
 */
export function suggestSetting(schema: unknown, path: readonly PropertyKey[], key: string): string | undefined {
  const wanted = normalizeKey(key);
  const [nearest] = Object.keys(objectShape(schemaAtPath(schema, path)) ?? {})
    .map((name) => ({ name, distance: editDistance(normalizeKey(name), wanted) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(Math.min(name.length, wanted.length) / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  if (nearest !== undefined) return [...path.map(String), nearest.name].join(".");
  return [...settingPaths(schema)].find((setting) => normalizeKey(setting.slice(setting.lastIndexOf(".") + 1)) === wanted);
}

/** Edit distance (Levenshtein), in which swapping two letters counts as one. */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min((previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (previous[column - 1] ?? 0) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (beforePrevious[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return previous[b.length] ?? 0;
}
