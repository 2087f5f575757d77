import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plainLiteral } from "./plain-literal.js";
import { root } from "../repository.js";
import { type RunningStack, runPython, startStack } from "../stack/stack-fixture.js";
import { builtProgram } from "../stack/built-program.js";

const TIMEOUT_MS = 1_800_000;

/** Runs a command of the stack's program, or of that of authors; returns its output. */
const flyteTs = (program: "cli" | "sdk-cli", ...args: string[]) =>
  execFileSync(process.execPath, [builtProgram(join(root, "packages", program)), ...args], { encoding: "utf8", stdio: "pipe" });

/** Examples of Spark, Ray and Dask as a user runs them: long, for their packages are large. */
describe.skipIf(process.env.PLUGIN_EXAMPLES !== "full")("tasks of operators run as one pod on a stack without operators", () => {
  let stack: RunningStack;
  let client: FlyteClient;
  beforeAll(async () => {
    stack = await startStack();
    client = createFlyteClient({ endpoint: `${stack.host}:${stack.api}` });
  }, 300_000);
  afterAll(async () => {
    client?.close();
    await stack?.stop();
  }, 120_000);

  test.each([
    // PySpark is needed to register; the pods install the packages of Ray and Dask themselves.
    { name: "spark", client: ["--extra", "spark"], workflow: "frequent_letter", output: "a" },
    { name: "ray", client: ["--no-deps", "flytekitplugins-ray==1.16.31"], workflow: "squares", output: 285 },
    { name: "dask", client: ["--no-deps", "flytekitplugins-dask==1.16.31"], workflow: "squares", output: 285 },
  ])(
    "$name",
    async ({ name, client: packages, workflow, output }) => {
      flyteTs("cli", "python", "install", "--data", stack.folder, ...packages);
      const own = { ...stack, pythonBin: join(stack.folder, "python", "bin") };
      const file = join(root, "examples", "plugins", `${name}.py`);
      const printed = runPython({ stack: own, folder: stack.folder }, "pyflyte", ["run", "--remote", file, workflow]);
      const id = { project: "flytesnacks", domain: "development", name: /executions\/([a-z0-9-]+)/.exec(printed)?.[1] ?? "" };
      // Prints the phases and reasons of the attempt.
      process.stdout.write(flyteTs("sdk-cli", "watch", "--endpoint", `localhost:${stack.api}`, id.project, id.domain, id.name));
      const { fullOutputs } = await client.admin.getExecutionData({ id });
      expect(Object.values(fullOutputs?.literals ?? {}).map(plainLiteral)).toEqual([output]);
      const nodeExecutionId = { executionId: id, nodeId: "n0" };
      const { taskExecutions } = await client.admin.listTaskExecutions({ nodeExecutionId, limit: 10 });
      expect(taskExecutions.map(({ closure }) => [closure?.taskType, closure?.customInfo])).toEqual([
        [name, { mode: expect.stringMatching(/^runs as one pod: no \w+ operator$/) }],
      ]);
    },
    TIMEOUT_MS,
  );
});
