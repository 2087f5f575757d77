import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../repository.js";

interface FileTimes {
  readonly file: string;
  readonly loadMs: number;
  readonly hooksMs: number;
  readonly testsMs: number;
}
interface RunReport {
  slowestFiles(files: readonly FileTimes[]): string[];
  durationsJson(files: readonly FileTimes[]): string;
}
interface Sequencer {
  sortSlowestFirst<File>(files: readonly File[], durationOf: (file: File) => number): File[];
}

const { slowestFiles, durationsJson }: RunReport = await import(join(root, "scripts", "test", "run-report.mjs"));
const { sortSlowestFirst }: Sequencer = await import(join(root, "scripts", "test", "sequencer.mjs"));

const FILES: readonly FileTimes[] = [
  { file: "quick.test.ts", loadMs: 100, hooksMs: 0, testsMs: 50 },
  { file: "slow.test.ts", loadMs: 500, hooksMs: 8_000, testsMs: 1_500 },
];

test("the table lists the slowest files first and ends with the sums", () => {
  expect(slowestFiles(FILES).map((line) => line.trim().split(/\s{2,}/))).toEqual([
    ["total s", "loading", "hooks", "tests", "slowest files"],
    ["10.0", "0.5", "8.0", "1.5", "slow.test.ts"],
    ["0.1", "0.1", "0.0", "0.1", "quick.test.ts"],
    ["10.2", "0.6", "8.0", "1.6", "all 2 files"],
  ]);
});

test("recorded durations are whole seconds of the files that take at least one", () => {
  expect(durationsJson(FILES)).toBe('{\n  "slow.test.ts": 10\n}\n');
});

test("files run in the order of descending duration, and unknown ones keep their order", () => {
  const durations: Readonly<Record<string, number>> = { b: 5, d: 9 };
  expect(sortSlowestFirst(["a", "b", "c", "d"], (file) => durations[file] ?? 0)).toEqual(["d", "b", "a", "c"]);
});
