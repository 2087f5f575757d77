import type { Measurement, ShapeOptions } from "./run-shape.js";

/** One workload on both endpoints. */
export interface Compared {
  readonly shape: string;
  readonly size: number;
  readonly executions: number;
  /** Medians over the runs without failures, seconds from the first creation to the last end. */
  readonly here: number;
  readonly there: number;
  /**
   * Duration on the other endpoint divided by the duration here; NaN when either has no run without
   * failures.
   */
  readonly ratio: number;
  readonly failedHere: number;
  readonly failedThere: number;
}

export interface CompareOptions {
  readonly here: string;
  readonly there: string;
  readonly shapes: readonly Omit<ShapeOptions, "endpoint">[];
  readonly rounds: number;
  /** Runs before each measurement, so that background work of the previous side is not measured. */
  readonly rest: () => Promise<unknown>;
  readonly run: (options: ShapeOptions) => Promise<Measurement>;
  readonly onMeasured?: (endpoint: string, measurement: Measurement) => void;
}

/**
 * Runs each workload on both endpoints alternately (A B, then B A), so that slow phases of the
 * machine affect both and neither always runs first.
 */
export async function compare({ here, there, shapes, rounds, rest, run, onMeasured }: CompareOptions): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (const shape of shapes) {
    const measured: Record<"here" | "there", Measurement[]> = { here: [], there: [] };
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? (["here", "there"] as const) : (["there", "here"] as const)) {
        const endpoint = side === "here" ? here : there;
        await rest();
        const measurement = await run({ ...shape, endpoint });
        measured[side].push(measurement);
        onMeasured?.(endpoint, measurement);
      }
    }
    const [ours, theirs] = [seconds(measured.here), seconds(measured.there)];
    compared.push({
      shape: shape.shape,
      size: shape.size,
      executions: shape.executions,
      here: ours,
      there: theirs,
      ratio: theirs / ours,
      failedHere: failures(measured.here),
      failedThere: failures(measured.there),
    });
  }
  return compared;
}

function seconds(measured: readonly Measurement[]): number {
  const good = measured.filter(({ failed }) => failed === 0).map((each) => each.seconds);
  const sorted = good.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function failures(measured: readonly Measurement[]): number {
  return measured.reduce((sum, { failed }) => sum + failed, 0);
}

/** Formats the comparison as a Markdown table. */
export function comparisonTable(compared: readonly Compared[], names: { readonly here: string; readonly there: string }): string {
  const text = (value: number, failed: number) =>
    `${Number.isNaN(value) ? "—" : `${value.toFixed(2)} s`}${failed > 0 ? ` (${failed} failed)` : ""}`;
  const rows = compared.map(
    ({ shape, size, executions, here, there, ratio, failedHere, failedThere }) =>
      `| ${executions > 1 ? `${executions} × ` : ""}${shape} ${size} | ${text(here, failedHere)} | ${text(there, failedThere)} | ${Number.isNaN(ratio) ? "—" : `${ratio.toFixed(1)} ×`} |`,
  );
  return [`| shape | ${names.here} | ${names.there} | ratio |`, "|---|---|---|---|", ...rows].join("\n");
}
