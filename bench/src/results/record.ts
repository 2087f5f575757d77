import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatWorkload, type Workload } from "../workload.js";
import { figureOf, median, mergeResults, type Result, type ResultFile } from "./result-file.js";
import { replaceTable, resultsTable } from "./results-table.js";

/** Folder of the results. */
export const RESULTS = fileURLToPath(new URL("../../results", import.meta.url));
const DOCUMENT = fileURLToPath(new URL("../../../docs/benchmarks.md", import.meta.url));

/** Durations of one workload in several runs, s. */
export interface MeasuredWorkload {
  readonly workload: Pick<Workload, "topology" | "size" | "executions">;
  readonly seconds: readonly number[];
  /** Durations on Go Flyte in alternate runs, s. */
  readonly goFlyteSeconds?: readonly number[];
}

/** Reads all files of bench/results. */
export function readResultFiles(): ResultFile[] {
  return readdirSync(RESULTS).map((name) => JSON.parse(readFileSync(join(RESULTS, name), "utf8")) as ResultFile);
}

/** Writes the table of docs/benchmarks.md from bench/results. */
export function writeTable(): void {
  writeFileSync(DOCUMENT, replaceTable(readFileSync(DOCUMENT, "utf8"), resultsTable(readResultFiles())));
}

/** Describes a measurement that is made now, on this machine. */
export function currentRun(): Pick<Result, "commit" | "date"> & Pick<ResultFile, "machine"> {
  return {
    commit: execFileSync("git", ["rev-parse", "--short=7", "HEAD"], { encoding: "utf8" }).trim(),
    date: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} cores, shared by the stack, its servers and the client`,
  };
}

/** Records measurements of this commit in bench/results/STACK.json and writes the table. */
export function recordResults(stack: "local" | "kubernetes", measured: readonly MeasuredWorkload[]): void {
  const path = join(RESULTS, `${stack}.json`);
  const file = JSON.parse(readFileSync(path, "utf8")) as ResultFile;
  const { machine, ...run } = currentRun();
  const results = measured.map((each) => resultOf(each, run));
  writeFileSync(path, `${JSON.stringify({ ...mergeResults(file, results), machine }, null, 2)}\n`);
  writeTable();
}

/**
 * Computes the row of a workload. A workload measured together with Go Flyte has its own name,
 * because the two stacks share the machine.
 */
export function resultOf({ workload, seconds, goFlyteSeconds }: MeasuredWorkload, run: Pick<Result, "commit" | "date">): Result {
  const name = describeWorkload(workload);
  const figure = figureOf(seconds, "s");
  if (goFlyteSeconds === undefined) return { workload: name, figure, ...run };
  const goFlyte = figureOf(goFlyteSeconds, "s");
  const ratio = median(goFlyteSeconds) / median(seconds);
  return { workload: `${name} beside Go Flyte`, figure, goFlyte, ratio: Number(ratio.toFixed(1)), ...run };
}

/** Names a workload as the table does: `chain of 2,000`, `fan-out 20 × 100`. */
export function describeWorkload({ topology, size, executions }: MeasuredWorkload["workload"]): string {
  if (executions === 1) return `${topology} of ${size.toLocaleString("en-US")}`;
  return `${topology} ${executions.toLocaleString("en-US")} × ${size.toLocaleString("en-US")}`;
}

/** A run of a workload, as far as the results need it. */
export type Run = MeasuredWorkload["workload"] & { readonly seconds: number; readonly failed: number };

/**
 * Groups durations by workload: the last run of each workload on each stack, because earlier ones
 * of the same workload warm the stack up. Runs with failures do not count.
 */
export function groupRuns(stacks: readonly (readonly Run[])[]): MeasuredWorkload[] {
  const groups = new Map<string, { workload: MeasuredWorkload["workload"]; seconds: number[] }>();
  for (const runs of stacks) {
    const last = new Map(runs.filter(({ failed }) => failed === 0).map((run) => [formatWorkload(run), run]));
    for (const [key, { seconds, failed: _, ...workload }] of last) {
      const group = groups.get(key) ?? { workload, seconds: [] };
      group.seconds.push(seconds);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
}

/**
 * Groups durations of alternate runs on two endpoints; a workload without a complete run on both is
 * left out.
 */
export function groupComparison(candidate: readonly Run[], goFlyte: readonly Run[]): MeasuredWorkload[] {
  const baseline = new Map(groupRuns(goFlyte.map((run) => [run])).map((group) => [formatWorkload(group.workload), group.seconds]));
  return groupRuns(candidate.map((run) => [run])).flatMap((group) => {
    const goFlyteSeconds = baseline.get(formatWorkload(group.workload));
    return goFlyteSeconds === undefined ? [] : [{ ...group, goFlyteSeconds }];
  });
}
