/** Sizes and wishes of boxes in a column, from top to bottom. */
export interface Column {
  readonly heights: Float64Array;
  /** Wished centres. */
  readonly wishes: Float64Array;
  readonly gap: number;
}

/**
 * Returns the centres of boxes that keep their order and gaps, and deviate least from the wished
 * ones by the sum of squares: isotonic regression by pooling adjacent violators.
 */
export function spreadColumn({ heights, wishes, gap }: Column): Float64Array {
  const { length } = heights;
  const distance = new Float64Array(length);
  for (let box = 1; box < length; box++)
    distance[box] = (distance[box - 1] as number) + ((heights[box - 1] as number) + (heights[box] as number)) / 2 + gap;
  const sums = new Float64Array(length);
  const counts = new Int32Array(length);
  let pools = 0;
  for (let box = 0; box < length; box++) {
    sums[pools] = (wishes[box] as number) - (distance[box] as number);
    counts[pools++] = 1;
    while (pools > 1 && mean(sums, counts, pools - 2) >= mean(sums, counts, pools - 1)) {
      pools--;
      (sums[pools - 1] as number) += sums[pools] as number;
      (counts[pools - 1] as number) += counts[pools] as number;
    }
  }
  const centres = new Float64Array(length);
  for (let pool = 0, box = 0; pool < pools; pool++) {
    const value = mean(sums, counts, pool);
    for (let left = counts[pool] as number; left > 0; left--, box++) centres[box] = value + (distance[box] as number);
  }
  return centres;
}

function mean(sums: Float64Array, counts: Int32Array, pool: number): number {
  return (sums[pool] as number) / (counts[pool] as number);
}
