import type { RowView } from "./session/protocol.js";

/**
 * Returns the rows of a message, those that are as before as the same objects, so that a page
 * renders only what changed; the same array if nothing changed.
 */
export function keepRows(before: readonly RowView[], next: readonly RowView[]): readonly RowView[] {
  const offset = (next[0]?.place ?? 0) - (before[0]?.place ?? 0);
  let isSame = before.length === next.length;
  const rows = next.map((row, at) => {
    const earlier = before[at + offset];
    const kept = earlier !== undefined && isEqual(earlier, row) ? earlier : row;
    isSame &&= kept === before[at];
    return kept;
  });
  return isSame ? before : rows;
}

function isEqual(a: RowView, b: RowView): boolean {
  return (Object.keys(a) as (keyof RowView)[]).every((name) => a[name] === b[name]);
}
