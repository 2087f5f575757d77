import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginHelloSubject } from "@flyte-ts/domain";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { encodeHeartbeat } from "@flyte-ts/task-plugin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, waitForEnd } from "./executions.js";
import { errorOf, LOUD, PoisonedStack, spoiltCopies, until } from "./poisoned.js";
import { registerShellWorkflow } from "./shell-tasks.js";
import { registerSleepChain } from "./sleep-chain.js";
import { runPython } from "./stack-fixture.js";

const SHARE_OF_EACH = 20;
const HEALTHY = 12;
const LENGTH = 30;
/** Number of unreadable resources that exist before the workload is measured beside them. */
const ENOUGH = 5;

let poisoned: PoisonedStack;
let folder: string;
let chain: Identifier;

beforeAll(async () => {
  poisoned = await PoisonedStack.start();
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-beside-"));
  chain = await registerSleepChain(poisoned.client, LENGTH);
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await poisoned.stop();
}, 60_000);

/** Milliseconds that the workload takes. */
async function measure(): Promise<number> {
  const start = performance.now();
  const inputs = {
    literals: { duration: { value: { case: "scalar", value: { value: { case: "primitive", value: DURATION } } } } },
  } as const;
  const ids = await Promise.all(
    Array.from({ length: HEALTHY }, async (_, index) => {
      const id = { project: chain.project, domain: chain.domain, name: `h${index}x${Date.now().toString(36)}` };
      await poisoned.client.admin.createExecution({ ...id, spec: { launchPlan: chain, metadata: {} }, inputs });
      return id;
    }),
  );
  for (const id of ids) {
    const { closure } = await waitForEnd(poisoned.client, id, 120_000);
    expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
  }
  return performance.now() - start;
}
const DURATION = { value: { case: "duration", value: { seconds: 0n } } } as const;

test("a healthy workload takes about as long beside every poison as alone", { timeout: 290_000 }, async () => {
  await measure();
  let alone = await measure();

  const announce = () =>
    poisoned.bus.publishEphemeral(
      pluginHelloSubject,
      encodeHeartbeat({ name: "mute", taskTypes: ["mute"], finalizes: true, instance: "", uptimeMs: 0 }),
    );
  const timer = setInterval(announce, 1_000);
  announce();
  writeFileSync(join(folder, "loud.py"), LOUD);
  runPython({ stack: poisoned.stack, folder }, "pyflyte", ["run", "--remote", "--name", "loud", "loud.py", "loud"]);
  const waiting: { readonly id: ExecutionName; readonly because: string }[] = [];
  for (const [type, because] of [
    ["nobody-serves-this", "no plugin service serves task type [nobody-serves-this]"],
    ["mute", "the plugin service for task type [mute] is there and has not answered since"],
  ] as const) {
    const launchPlan = await registerShellWorkflow(poisoned.client, type, [{ id: "n0", script: "", after: [], type }]);
    for (let i = 0; i < SHARE_OF_EACH; i++) waiting.push({ id: await poisoned.create(launchPlan), because });
  }
  for (const { id, because } of waiting) expect(await poisoned.shows(id, because)).toMatchObject({ code: "Waiting" });
  const like = await until(() => poisoned.resource(waiting[0]?.id as ExecutionName));
  const spoilt = spoiltCopies(poisoned.kube, like, "spoilt");
  await until(() => Promise.resolve(spoilt.made() > ENOUGH ? true : undefined));

  let beside = await measure();
  if (beside > 5 * alone) {
    // Whatever else the machine did.
    await spoilt.stop();
    alone = await measure();
    const again = spoiltCopies(poisoned.kube, like, "again");
    beside = await measure();
    await again.stop();
  }
  const made = spoilt.made();
  await spoilt.stop();
  clearInterval(timer);
  process.stdout.write(
    `healthy workload: alone ${alone.toFixed(0)} ms, beside ${waiting.length} that wait and ${made} that cannot be read ${beside.toFixed(0)} ms, ratio ${(beside / alone).toFixed(2)}\n`,
  );
  // Poison that stood in the way would make it many times longer; a busy machine alone doubles it.
  expect(beside / alone).toBeLessThan(5);
  // All the time it was poison: what waits waits still, and says why; what cannot be read has been let go.
  for (const { id, because } of waiting) expect(errorOf(await poisoned.execution(id))?.message).toContain(because);
  const last = await until(async () => {
    const resource = await poisoned.resource({ project: "", domain: "", name: "spoilt0" });
    return resource !== undefined && (resource.metadata.finalizers ?? []).length === 0 ? resource : undefined;
  });
  expect(last.status).toMatchObject({ error: { code: "BadWorkflowSpecification" } });
  const loud = await waitForEnd(poisoned.client, { project: "flytesnacks", domain: "development", name: "loud" }, 90_000);
  expect(errorOf(loud)?.message).toContain("BEGIN");
});
