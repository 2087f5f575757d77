// Vitest reporter that prints unhandled errors, the slowest test files, and the time that all files
// spend on setup.
import { writeFileSync } from "node:fs";
import { relative } from "node:path";

/** Number of files in the table. */
const ROWS = 20;

export default class RunReport {
  onTestRunEnd(modules, errors) {
    for (const { message, stack, VITEST_TEST_PATH: file = "" } of errors) {
      console.log(
        `UNHANDLED ${file}\n    ${String(stack ?? message)
          .slice(0, 2000)
          .replaceAll("\n", "\n    ")}`,
      );
    }
    const files = modules.map(timesOf);
    if (files.length > 1) console.log(slowestFiles(files).join("\n"));
    const { TEST_DURATIONS_FILE: target } = process.env;
    if (target !== undefined) writeFileSync(target, durationsJson(files));
  }
}

/** Reads the times of one test file, ms: the tests, their hooks, and the loading before them. */
function timesOf(module) {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic();
  const sum = [...module.children.allTests()].reduce((total, test) => total + (test.diagnostic()?.duration ?? 0), 0);
  // Concurrent tests take less time than their sum.
  const tests = Math.min(sum, duration);
  return {
    file: relative(process.cwd(), module.moduleId),
    loadMs: environmentSetupDuration + prepareDuration + collectDuration + setupDuration,
    hooksMs: Math.max(0, duration - tests),
    testsMs: tests,
  };
}

const totalOf = ({ loadMs, hooksMs, testsMs }) => loadMs + hooksMs + testsMs;

/** Formats the slowest files and the sums of all files as a table. */
export function slowestFiles(files) {
  const sum = (part) => files.reduce((total, file) => total + file[part], 0);
  const all = { file: `all ${files.length} files`, loadMs: sum("loadMs"), hooksMs: sum("hooksMs"), testsMs: sum("testsMs") };
  const slowest = files.toSorted((a, b) => totalOf(b) - totalOf(a)).slice(0, ROWS);
  const row = (cells, file) => `${cells.map((cell) => cell.padStart(9)).join("")}  ${file}`;
  const seconds = (ms) => (ms / 1000).toFixed(1);
  return [
    row(["total s", "loading", "hooks", "tests"], "slowest files"),
    ...[...slowest, all].map((file) => row([totalOf(file), file.loadMs, file.hooksMs, file.testsMs].map(seconds), file.file)),
  ];
}

/** Lists the files that take at least a second, for the order of the next run. */
export function durationsJson(files) {
  const entries = files.map((file) => [file.file, Math.round(totalOf(file) / 1000)]).filter(([, duration]) => duration >= 1);
  return `${JSON.stringify(Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1))), null, 2)}\n`;
}
