/** Returns the median of each figure over some runs. */
export function mediansOf<Name extends string>(runs: readonly Readonly<Record<Name, number>>[]): Readonly<Record<Name, number>> {
  const names = Object.keys(runs[0] ?? {}) as Name[];
  const pairs = names.map((name) => [name, medianOf(runs.map((run) => run[name]))] as const);
  return Object.fromEntries(pairs) as Record<Name, number>;
}

function medianOf(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] ?? Number.NaN;
}
