import type { Measurement, WorkloadOptions } from "./run-workload.js";

/** One workload on both endpoints. */
export interface Compared {
  readonly topology: string;
  readonly size: number;
  readonly executions: number;
  /** Medians over the runs without failures, seconds from the first creation to the last end. */
  readonly candidate: number;
  readonly baseline: number;
  /**
   * Duration on the baseline divided by that on the candidate; NaN when either has no run without
   * failures.
   */
  readonly ratio: number;
  readonly failedCandidate: number;
  readonly failedBaseline: number;
}

export interface CompareOptions {
  readonly candidate: string;
  readonly baseline: string;
  readonly workloads: readonly Omit<WorkloadOptions, "endpoint">[];
  readonly rounds: number;
  /**
   * Called before each measurement, so that it does not include background work of the endpoint
   * measured before.
   */
  readonly cooldown: () => Promise<unknown>;
  readonly run: (options: WorkloadOptions) => Promise<Measurement>;
  readonly onMeasured?: (endpoint: string, measurement: Measurement) => void;
}

/**
 * Runs each workload on both endpoints alternately (A B, then B A), so that slow phases of the
 * machine affect both and neither always runs first.
 */
export async function compare({ candidate, baseline, workloads, rounds, cooldown, run, onMeasured }: CompareOptions): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (const workload of workloads) {
    const measured: Record<"candidate" | "baseline", Measurement[]> = { candidate: [], baseline: [] };
    for (let round = 0; round < rounds; round++) {
      for (const side of round % 2 === 0 ? (["candidate", "baseline"] as const) : (["baseline", "candidate"] as const)) {
        const endpoint = side === "candidate" ? candidate : baseline;
        await cooldown();
        const measurement = await run({ ...workload, endpoint });
        measured[side].push(measurement);
        onMeasured?.(endpoint, measurement);
      }
    }
    const [candidateRuns, baselineRuns] = [seconds(measured.candidate), seconds(measured.baseline)];
    compared.push({
      topology: workload.topology,
      size: workload.size,
      executions: workload.executions,
      candidate: candidateRuns,
      baseline: baselineRuns,
      ratio: baselineRuns / candidateRuns,
      failedCandidate: failures(measured.candidate),
      failedBaseline: failures(measured.baseline),
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
export function comparisonTable(compared: readonly Compared[], names: { readonly candidate: string; readonly baseline: string }): string {
  const text = (value: number, failed: number) =>
    `${Number.isNaN(value) ? "—" : `${value.toFixed(2)} s`}${failed > 0 ? ` (${failed} failed)` : ""}`;
  const rows = compared.map(
    ({ topology, size, executions, candidate, baseline, ratio, failedCandidate, failedBaseline }) =>
      `| ${executions > 1 ? `${executions} × ` : ""}${topology} ${size} | ${text(candidate, failedCandidate)} | ${text(baseline, failedBaseline)} | ${Number.isNaN(ratio) ? "—" : `${ratio.toFixed(1)} ×`} |`,
  );
  return [`| workload | ${names.candidate} | ${names.baseline} | ratio |`, "|---|---|---|---|", ...rows].join("\n");
}
