import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { type RunningStack, startStackOnKubernetes } from "../../stack/stack-fixture.js";
import { type CaseRun, endOfCase, type RunCase, startCase } from "../../typescript-runtime/case-runs.js";
import { differences } from "../differences.js";
import { startGoAdmin } from "./go-admin.js";
import { startGoPropeller } from "./go-propeller.js";

/** Executions of a TypeScript project. */
export interface ProjectRuns<Case extends RunCase> {
  readonly cases: readonly Case[];
  /** Registers the project on a stack. Returns the version of an entity by its name. */
  readonly register: (stack: RunningStack) => (name: string) => string;
}

/**
 * Runs cases on this stack, and on Go FlyteAdmin and FlytePropeller, which then replace its own.
 * Compares what the API shows and prints the differences.
 *
 * @param programs folder of `flyteadmin`, `datacatalog` and `flytepropeller`
 * @returns the exit code
 */
export async function compareRuns<Case extends RunCase>(programs: string, project: ProjectRuns<Case>): Promise<number> {
  const stack = await startStackOnKubernetes();
  try {
    const ours = await runAll(stack, project);
    const platform = await startGoPlatform(stack, programs);
    try {
      const theirs = await runAll(stack, project);
      const found = differences(theirs, ours);
      for (const difference of found) process.stdout.write(`${JSON.stringify(difference)}\n`);
      const wrong = Object.entries(theirs).filter(([, { expected }]) => !expected);
      for (const [name, run] of wrong) process.stdout.write(`${name} does not end as expected: ${JSON.stringify(run)}\n`);
      process.stdout.write(`${project.cases.length} executions, ${found.length} differences, ${wrong.length} wrong\n`);
      return found.length + wrong.length === 0 ? 0 : 1;
    } finally {
      await platform.stop();
    }
  } finally {
    await stack.stop();
  }
}

/**
 * Replaces admin, data catalog and propeller of a running stack by those of Go Flyte.
 *
 * @param programs folder of `flyteadmin`, `datacatalog` and `flytepropeller`
 */
async function startGoPlatform(stack: RunningStack, programs: string): Promise<{ stop(): Promise<void> }> {
  const admin = await startGoAdmin(stack, { programs, offloadsClosures: false });
  try {
    const propeller = await startGoPropeller(stack, join(programs, "flytepropeller"));
    return {
      stop: async () => {
        await propeller.stop();
        await admin.stop();
      },
    };
  } catch (error) {
    await admin.stop();
    throw error;
  }
}

interface CheckedRun extends CaseRun {
  /** The run has the outputs or the error of its case. */
  readonly expected: boolean;
}

/** Registers the project and runs all cases concurrently. Returns the runs by their case. */
async function runAll<Case extends RunCase>(
  stack: RunningStack,
  { cases, register }: ProjectRuns<Case>,
): Promise<Readonly<Record<string, CheckedRun>>> {
  const client = createFlyteClient({ endpoint: `localhost:${stack.api}` });
  try {
    const versionOf = register(stack);
    return Object.fromEntries(await Promise.all(cases.map((example) => checkedRun(client, example, versionOf(example.name)))));
  } finally {
    client.close();
  }
}

async function checkedRun(client: FlyteClient, example: RunCase, version: string): Promise<readonly [string, CheckedRun]> {
  const run = await endOfCase(client, await startCase(client, example, version), example);
  const name = `${example.name} ${JSON.stringify(plain(example.inputs))}`;
  process.stderr.write(`${name}: ${run.phase}\n`);
  return [name, plain({ ...run, expected: isExpected(run, example) }) as CheckedRun];
}

function isExpected(run: CaseRun, { outputs, error }: RunCase): boolean {
  if (error !== undefined) return run.phase === "FAILED" && run.error.includes(error);
  return run.phase === "SUCCEEDED" && differences(plain(outputs), plain(run.outputs)).length === 0;
}

/** Returns the JSON form, in which integers of 64 bits are texts. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === "bigint" ? `${part}n` : part)));
}
