import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { currentRun, RESULTS, writeTable } from "../results/record.js";
import type { Figure, ResultFile } from "../results/result-file.js";
import type { SoakCounts, SoakTenth } from "./soak-figures.js";
import { soakPlot } from "./soak-plot.js";

/** Results of a soak with the figures that the plot shows. */
interface SoakFile extends ResultFile {
  readonly tenths: readonly SoakTenth[];
}

const FILE = join(RESULTS, "soak.json");
const PLOT = fileURLToPath(new URL("../../../docs/images/soak.svg", import.meta.url));

/** Records a soak in bench/results/soak.json, draws it, and writes the table. */
export function recordSoak(tenths: readonly SoakTenth[], counts: SoakCounts): void {
  const { machine, ...run } = currentRun();
  const row = (workload: string, figure: Figure, target?: string) => ({
    workload,
    ...(target === undefined ? {} : { target }),
    figure,
    ...run,
  });
  const ends = (unit: string, of: (tenth: SoakTenth) => number): Figure => ({
    unit,
    digits: 0,
    values: [tenths.at(0), tenths.at(-1)].map((tenth) => (tenth === undefined ? 0 : of(tenth))),
  });
  const programs = Object.keys(tenths.at(-1)?.memory.parts ?? {});
  const file: SoakFile = {
    title: "Soak",
    detail: `${(tenths.at(-1)?.ended ?? 0).toLocaleString("en-US")} chains of three with retention: the first tenth, the last one`,
    order: 6,
    machine,
    results: [
      row(
        "ended per second",
        ends("/s", ({ rate }) => rate),
      ),
      row(
        "CreateExecution, p99",
        ends("ms", ({ create }) => create.p99),
        "flat",
      ),
      row(
        "call to start, p99",
        ends("ms", ({ queue }) => queue.p99),
        "flat",
      ),
      row(
        "size of the database without the audit log",
        ends("MiB", ({ databaseMib, auditLogMib }) => databaseMib - auditLogMib),
        "bounded",
      ),
      ...programs.map((name) =>
        row(
          `memory of ${name}`,
          ends("MiB", ({ memory }) => memory.parts[name] ?? 0),
          "+10 %",
        ),
      ),
      row("accepted, succeeded, recorded", { unit: "", digits: 0, values: [counts.accepted, counts.succeeded, counts.recorded] }, "equal"),
    ],
    tenths,
  };
  writeFileSync(FILE, `${JSON.stringify(file, null, 2)}\n`);
  drawSoak();
  writeTable();
}

/** Draws docs/images/soak.svg from bench/results/soak.json. */
export function drawSoak(): void {
  writeFileSync(PLOT, soakPlot((JSON.parse(readFileSync(FILE, "utf8")) as SoakFile).tenths));
}
