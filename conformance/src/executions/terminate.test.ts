import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { processesOf, type RunningStack, startStack } from "../stack/stack-fixture.js";

let stack: RunningStack;
let client: FlyteClient;
beforeAll(async () => {
  stack = await startStack();
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
}, 300_000);
afterAll(async () => {
  client.close();
  await stack.stop();
}, 60_000);

test("terminating an execution ends its processes and records the cause", async () => {
  const marks = join(stack.folder, "marks");
  // The second script ignores SIGTERM and has a child process.
  const scripts = [`echo up >> ${marks}; sleep 300`, `trap '' TERM; echo up >> ${marks}; (sleep 301 & wait)`];
  const launchPlan = await registerShellWorkflow(
    client,
    "terminate",
    scripts.map((script, index) => ({ id: `n${index}`, script, after: [] })),
  );
  const id = { project: launchPlan.project, domain: launchPlan.domain, name: "terminateme" };
  await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} });
  const started = () => existsSync(marks) && readFileSync(marks, "utf8").split("\n").length > 2;
  for (let waited = 0; !started() && waited < 60_000; waited += 50) await sleep(50);
  expect(started()).toBe(true);
  const sleepers = () => processesOf(stack.folder).filter(({ command }) => /sleep 30[01]/.test(command));
  expect(sleepers().length).toBeGreaterThanOrEqual(2);

  await client.admin.terminateExecution({ id, cause: "changed my mind" });
  const since = Date.now();
  while (sleepers().length > 0 && Date.now() - since < 60_000) await sleep(50);
  expect(sleepers()).toEqual([]);
  const execution = await waitForEnd(client, id, 60_000);
  expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0]).toBe("ABORTED");
  const result = execution.closure?.outputResult;
  expect(result?.case === "abortMetadata" ? result.value.cause : result).toBe("changed my mind");
});
