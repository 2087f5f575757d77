/** A measured value over several runs, or one group of values for each run. */
export interface Figure {
  readonly unit: string;
  /** Decimal places. Default: 2 below 10, 1 below 1,000, else 0. */
  readonly digits?: number;
  readonly median?: number;
  readonly min?: number;
  readonly max?: number;
  /** Number of runs behind the median. */
  readonly runs?: number;
  /** Single values of fewer than three runs; a nested list holds several values of one run. */
  readonly values?: readonly (number | readonly number[])[];
  /** Text after the value, such as a percentile. */
  readonly note?: string;
}

/** One row of the table of results. */
export interface Result {
  readonly workload: string;
  /** Value that the design asks for. */
  readonly target?: string;
  readonly figure: Figure;
  /** The same workload on Go Flyte, measured in runs that alternate with those of this project. */
  readonly goFlyte?: Figure;
  /** Duration on Go Flyte divided by the duration here; a range when several runs were compared. */
  readonly ratio?: number | readonly [number, number];
  readonly commit: string;
  /** Day of the measurement, YYYY-MM-DD. */
  readonly date: string;
}

/** Results of one environment: a file in bench/results. */
export interface ResultFile {
  readonly title: string;
  /** Detail after the title, such as the versions of servers. */
  readonly detail?: string;
  /** Position of the section in the table. */
  readonly order: number;
  readonly machine: string;
  readonly results: readonly Result[];
}

/** Computes the figure of at least one run. */
export function figureOf(values: readonly number[], unit: string): Figure {
  if (values.length === 0) throw new Error("a figure needs at least one run");
  if (values.length < 3) return { unit, values };
  return { unit, median: median(values), min: Math.min(...values), max: Math.max(...values), runs: values.length };
}

/** Replaces the results of the same workloads and appends new ones. */
export function mergeResults(file: ResultFile, measured: readonly Result[]): ResultFile {
  const byWorkload = new Map(measured.map((result) => [result.workload, result]));
  const kept = file.results.map((result) => {
    const found = byWorkload.get(result.workload);
    byWorkload.delete(result.workload);
    return found === undefined ? result : { ...(result.target !== undefined && { target: result.target }), ...found };
  });
  return { ...file, results: [...kept, ...byWorkload.values()] };
}

/** Returns the median of at least one value. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [upper = 0, lower = 0] = [sorted[middle], sorted[middle - 1]];
  return sorted.length % 2 === 1 ? upper : (lower + upper) / 2;
}
