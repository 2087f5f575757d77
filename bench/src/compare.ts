import type { Measurement, ShapeOptions } from "./run-shape.js";

/** One shape at one size, on both endpoints. */
export interface Compared {
  readonly shape: string;
  readonly size: number;
  readonly executions: number;
  /** Medians over the rounds, seconds from the first creation to the last end; of those without failures. */
  readonly here: number;
  readonly there: number;
  /** How many times as long the other endpoint took; NaN when either has no run without failures. */
  readonly ratio: number;
  readonly failedHere: number;
  readonly failedThere: number;
}

export interface CompareOptions {
  readonly here: string;
  readonly there: string;
  readonly shapes: readonly Omit<ShapeOptions, "endpoint">[];
  readonly rounds: number;
  /** Before each run: what the side before it owes still is not paid in its time. */
  readonly rest: () => Promise<unknown>;
  readonly run: (options: ShapeOptions) => Promise<Measurement>;
  readonly onMeasured?: (endpoint: string, measurement: Measurement) => void;
}

/**
 * Runs each shape on both endpoints in turn (A B, then B A), so that what slows the
 * machine for a while slows both, and neither is always the one that comes first.
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

/** The comparison as a Markdown table. */
export function comparisonTable(compared: readonly Compared[], names: { readonly here: string; readonly there: string }): string {
  const text = (value: number, failed: number) =>
    `${Number.isNaN(value) ? "—" : `${value.toFixed(2)} s`}${failed > 0 ? ` (${failed} failed)` : ""}`;
  const rows = compared.map(
    ({ shape, size, executions, here, there, ratio, failedHere, failedThere }) =>
      `| ${executions > 1 ? `${executions} × ` : ""}${shape} ${size} | ${text(here, failedHere)} | ${text(there, failedThere)} | ${Number.isNaN(ratio) ? "—" : `${ratio.toFixed(1)} ×`} |`,
  );
  return [`| shape | ${names.here} | ${names.there} | ratio |`, "|---|---|---|---|", ...rows].join("\n");
}
