// `npm test [vitest arguments]`: runs every test that a fresh machine can run.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureBuilt, ensureInstalled, ensureKubernetes, environment, root } from "./prepare.mjs";

await ensureInstalled();
await ensureBuilt();
if (process.argv.length === 2) await ensureKubernetes();
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-report-"));
const report = join(folder, "report.json");
const tellUnhandled = join(root, "scripts", "tell-unhandled.mjs");
const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`, `--reporter=${tellUnhandled}`];
const { status } = spawnSync("vitest", ["run", ...reporters, ...process.argv.slice(2)], {
  cwd: root,
  stdio: "inherit",
  env: environment(),
});
const { numPassedTests: passed = 0, numFailedTests = 0, testResults = [] } = read();
rmSync(folder, { recursive: true, force: true });
// Print failures last, where readers of a report look first.
for (const file of testResults.filter(({ status: verdict }) => verdict === "failed")) {
  console.log(`FAILED ${relative(root, file.name)} ${file.message ?? ""}`);
  for (const test of file.assertionResults.filter(({ status: verdict }) => verdict === "failed")) {
    console.log(`  ${test.fullName}\n    ${test.failureMessages.join("\n").slice(0, 4000).replaceAll("\n", "\n    ")}`);
  }
}
// A file that fails to load contains no failed test, but counts as a failure.
const unloaded = testResults.filter(
  ({ status: verdict, assertionResults }) => verdict === "failed" && assertionResults.length === 0,
).length;
const failed = status === 0 ? 0 : Math.max(numFailedTests + unloaded, 1);
console.log(`tests: ${passed} passed, ${failed} failed`);
process.exit(failed > 0 || passed === 0 ? 1 : 0);

function read() {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return {};
  }
}
