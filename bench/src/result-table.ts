import type { MemoryReport } from "./memory.js";
import type { Measurement } from "./run-workload.js";
import { formatWorkload } from "./workload.js";

/**
 * Workloads of the design's targets, in the order in which one stack runs them. The first runs of a
 * repeated workload warm the stack up.
 */
export const STANDARD_WORKLOADS: readonly string[] =
  "chain 20 chain 20 chain 20 chain 100 chain 100 chain 100 chain 2000 fan-out 1000 fan-out 1000 fan-out 6000 fan-out 20x100 fan-out 20x100 chain 50x20 fan-out 200x10".split(
    " ",
  );

export type Measured = Measurement & { readonly memory: MemoryReport };

/** Formats the rows as in docs/benchmarks.md. */
export function resultTable(rows: readonly Measured[]): string {
  return [
    "| workload | seconds | per node | median duration of an execution | memory before, at the peak, after |",
    "|---|---|---|---|---|",
    ...rows.map(({ memory: { before, peak, after }, ...row }) => {
      const perNode = ((row.seconds * 1_000) / (row.size * row.executions)).toFixed(1);
      const seconds = row.failed > 0 ? `${row.failed} failed` : row.seconds.toFixed(2);
      return `| ${formatWorkload(row)} | ${seconds} | ${perNode} ms | ${row.medianDurationSeconds.toFixed(2)} | ${before.total}, ${peak.total}, ${after.total} MiB |`;
    }),
  ].join("\n");
}
