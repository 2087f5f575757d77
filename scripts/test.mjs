// `npm test [vitest arguments]`: runs every test that a fresh machine can run.
//   npm test -- --changed [REF]      runs tests that changes can break: uncommitted, or since REF
//   npm test -- --update-durations   also records durations of files, which order later runs
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureBuilt, ensureInstalled, ensureKubernetes, environment, root } from "./prepare.mjs";
import { parseTestArgs } from "./test/arguments.mjs";

const { changed, updateDurations, vitestArgs } = parseTestArgs(process.argv.slice(2));
await ensureInstalled();
await ensureBuilt();
const files = changed === undefined ? [] : await changedTests(changed.ref);
if (vitestArgs.length === 0 && changed === undefined) await ensureKubernetes();
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-report-"));
const report = join(folder, "report.json");
const runReport = join(root, "scripts", "test", "run-report.mjs");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, `--reporter=${runReport}`];
const durations = updateDurations ? { TEST_DURATIONS_FILE: join(root, "scripts", "test", "durations.json") } : {};
const { status } = spawnSync("vitest", ["run", ...reporters, ...files, ...vitestArgs], {
  cwd: root,
  stdio: "inherit",
  env: { ...environment(), ...durations },
});
const { numPassedTests: passed = 0, numFailedTests = 0, testResults = [] } = read();
rmSync(folder, { recursive: true, force: true });
const failedFiles = testResults.filter(({ status: verdict }) => verdict === "failed").map(failuresOf);
for (const { path, message, tests } of failedFiles) {
  console.log(`FAILED ${path} ${message}`);
  for (const { name, error } of tests) console.log(`  ${name}\n    ${error.slice(0, 4000).replaceAll("\n", "\n    ")}`);
}
// Print a line per failure last, where readers of a report look first.
if (failedFiles.length > 0) console.log("Failed tests:");
for (const { path, message, tests } of failedFiles) {
  const summaries = tests.map(({ name, error }) => `${name}: ${firstLine(error)}`);
  for (const summary of summaries.length > 0 ? summaries : [firstLine(message)]) console.log(`  ${path} > ${summary}`);
}
// A file that fails to load contains no failed test, but counts as a failure.
const unloaded = testResults.filter(
  ({ status: verdict, assertionResults }) => verdict === "failed" && assertionResults.length === 0,
).length;
const failed = status === 0 ? 0 : Math.max(numFailedTests + unloaded, 1);
console.log(`tests: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

/** Selects the tests that a change can break, and prints how many they are. */
async function changedTests(ref) {
  // Loaded late: it needs installed dependencies.
  const { changedFiles, selectTests } = await import("./test/changed-tests.mjs");
  const names = changedFiles(root, ref);
  const tests = selectTests(root, names);
  console.log(`  ${names.length} changed files select ${tests.length} test files`);
  return tests;
}

/** Returns the path of a file, its error while loading, and names and errors of failed tests. */
function failuresOf({ name, message, assertionResults }) {
  const tests = assertionResults
    .filter(({ status: verdict }) => verdict === "failed")
    .map((test) => ({ name: test.fullName, error: test.failureMessages.join("\n") }));
  return { path: relative(root, name), message: message ?? "", tests };
}

function firstLine(text) {
  return text.split("\n", 1)[0].slice(0, 200);
}

function read() {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return {};
  }
}
