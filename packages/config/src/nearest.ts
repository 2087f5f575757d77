import { schemaAt, settingsOf, shapeOf } from "./shape.js";

/** Normalizes a name for comparison: without case, `_` and `-`. */
export const plainName = (key: string): string => key.toLowerCase().replaceAll("_", "").replaceAll("-", "");

/** Suggests the dotted path of the setting closest to an unknown key: a similar sibling first, else an equal name elsewhere. */
export function nearestSetting(schema: unknown, path: readonly PropertyKey[], key: string): string | undefined {
  const wanted = plainName(key);
  const [nearest] = Object.keys(shapeOf(schemaAt(schema, path)) ?? {})
    .map((name) => ({ name, distance: distance(plainName(name), wanted) }))
    .filter(({ name, distance: far }) => far <= Math.max(1, Math.floor(Math.min(name.length, wanted.length) / 3)))
    .toSorted((a, b) => a.distance - b.distance);
  if (nearest !== undefined) return [...path.map(String), nearest.name].join(".");
  return [...settingsOf(schema)].find((setting) => plainName(setting.slice(setting.lastIndexOf(".") + 1)) === wanted);
}

/** Edit distance (Levenshtein), in which swapping two letters counts as one. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const next = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let least = Math.min((last[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) least = Math.min(least, (before[column - 2] ?? 0) + 1);
      next.push(least);
    }
    before = last;
    last = next;
  }
  return last[b.length] ?? 0;
}
