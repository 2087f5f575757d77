/** Largest integer that a number holds exactly, plus 1. */
const EXACT = 2 ** 53;

/** Lists the rows of a table in the order of arrival. */
export function allRows(length: number): Int32Array {
  const rows = new Int32Array(length);
  for (let row = 0; row < length; row++) rows[row] = row;
  return rows;
}

/**
 * Sorts rows by ascending values, equal ones by row. Values are integers, or Infinity, which comes
 * last.
 *
 * @param values value of each row of the table, by row
 */
export function sortRows(rows: Int32Array, values: Float64Array): void {
  let [least, greatest, lastRow, isSorted] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, true];
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    const value = values[row] as number;
    if (at > 0) {
      const before = rows[at - 1] as number;
      const previous = values[before] as number;
      isSorted &&= previous < value || (previous === value && before < row);
    }
    if (value < least) least = value;
    if (value > greatest && value !== Number.POSITIVE_INFINITY) greatest = value;
    if (row > lastRow) lastRow = row;
  }
  if (isSorted) return;
  const step = lastRow + 1;
  if (least === Number.POSITIVE_INFINITY || (greatest - least + 2) * step > EXACT) sortByComparison(rows, values);
  else sortPacked(rows, values, { least, greatest, step });
}

function sortByComparison(rows: Int32Array, values: Float64Array): void {
  rows.sort((a, b) => {
    const [valueA, valueB] = [values[a] as number, values[b] as number];
    return valueA === valueB ? a - b : valueA - valueB;
  });
}

interface Packing {
  readonly least: number;
  readonly greatest: number;
  readonly step: number;
}

/** Sorts numbers that hold value and row: sorting numbers takes a third of a comparison's time. */
function sortPacked(rows: Int32Array, values: Float64Array, { least, greatest, step }: Packing): void {
  const packed = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] as number;
    packed[at] = (Math.min(values[row] as number, greatest + 1) - least) * step + row;
  }
  packed.sort();
  for (let at = 0; at < rows.length; at++) rows[at] = (packed[at] as number) % step;
}
