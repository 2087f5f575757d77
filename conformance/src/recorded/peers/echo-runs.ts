// Runs the workflows of echo tasks of the TypeScript project of the tests on this stack and on Go
// FlyteAdmin and FlytePropeller, which then replace its own, and compares what the API shows:
//   node conformance/dist/recorded/peers/echo-runs.js --programs FOLDER
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { createFlyteClient } from "@flyte-ts/client";
import { type RunningStack, startStackOnKubernetes } from "../../stack/stack-fixture.js";
import { ECHO_CASES, type EchoCase, type EchoRun, runEchoCase } from "../../typescript-runtime/echo-runs.js";
import { typeScriptProject, versionIn } from "../../typescript-runtime/project.js";
import { differences } from "../differences.js";
import { startGoAdmin } from "./go-admin.js";
import { startGoPropeller } from "./go-propeller.js";

const { values } = parseArgs({
  options: {
    /** Folder of Go Flyte's `flyteadmin`, `datacatalog` and `flytepropeller`. */
    programs: { type: "string" },
  },
});
if (values.programs === undefined) throw new Error("--programs FOLDER is needed");
process.exitCode = await compare(resolve(values.programs));

async function compare(programs: string): Promise<number> {
  const stack = await startStackOnKubernetes();
  try {
    const ours = await runAll(stack);
    const theirs = await runOnGo(stack, programs);
    const found = differences(theirs, ours);
    for (const difference of found) process.stdout.write(`${JSON.stringify(difference)}\n`);
    const wrong = Object.entries(theirs).filter(([, { expected }]) => !expected);
    for (const [name, run] of wrong) process.stdout.write(`${name} does not end as expected: ${JSON.stringify(run)}\n`);
    process.stdout.write(`${ECHO_CASES.length} executions, ${found.length} differences, ${wrong.length} wrong\n`);
    return found.length + wrong.length === 0 ? 0 : 1;
  } finally {
    await stack.stop();
  }
}

async function runOnGo(stack: RunningStack, programs: string): Promise<Readonly<Record<string, CheckedRun>>> {
  const admin = await startGoAdmin(stack, { programs, offloadsClosures: false });
  try {
    const propeller = await startGoPropeller(stack, join(programs, "flytepropeller"));
    try {
      return await runAll(stack);
    } finally {
      await propeller.stop();
    }
  } finally {
    await admin.stop();
  }
}

interface CheckedRun extends EchoRun {
  /** The run has the outputs or the error of its case. */
  readonly expected: boolean;
}

/** Registers the project and runs all cases. Returns the runs by their case. */
async function runAll(stack: RunningStack): Promise<Readonly<Record<string, CheckedRun>>> {
  const endpoint = `localhost:${stack.api}`;
  const client = createFlyteClient({ endpoint });
  const project = typeScriptProject(endpoint);
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-echoes-"));
  try {
    const version = versionIn(project.run("register"));
    const runs: Record<string, CheckedRun> = {};
    for (const example of ECHO_CASES) {
      const run = await runEchoCase(client, { version, folder }, example);
      const name = `${example.name} ${JSON.stringify(example.inputs)}`;
      runs[name] = { ...run, expected: isExpected(run, example) };
      process.stderr.write(`${name}: ${run.phase}\n`);
    }
    return runs;
  } finally {
    rmSync(folder, { recursive: true });
    project.remove();
    client.close();
  }
}

function isExpected(run: EchoRun, { outputs, error }: EchoCase): boolean {
  if (error !== undefined) return run.phase === "FAILED" && run.error.includes(error);
  return run.phase === "SUCCEEDED" && isDeepStrictEqual(run.outputs, outputs);
}
