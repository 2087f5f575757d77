import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginHelloSubject } from "@flyte-ts/bus-contract";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { encodeHeartbeat } from "@flyte-ts/task-plugin";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ExecutionName, waitForEnd } from "../stack/executions.js";
import { errorOf, HUGE_ERROR_PROGRAM, BrokenInputStack, createUndecodableCopies, waitFor } from "./broken-input-stack.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { registerSleepChain } from "../stack/sleep-chain.js";
import { runPython } from "../stack/stack-fixture.js";

const SHARE_OF_EACH = 20;
const HEALTHY = 12;
const LENGTH = 30;
/** Number of undecodable resources that exist before the workload is measured beside them. */
const MIN_UNDECODABLE = 5;

let broken: BrokenInputStack;
let folder: string;
let chain: Identifier;

beforeAll(async () => {
  broken = await BrokenInputStack.start();
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-beside-"));
  chain = await registerSleepChain(broken.client, LENGTH);
}, 300_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await broken.stop();
}, 60_000);

/** Duration of the workload, ms. */
async function measureWorkload(): Promise<number> {
  const start = performance.now();
  const inputs = {
    literals: { duration: { value: { case: "scalar", value: { value: { case: "primitive", value: DURATION } } } } },
  } as const;
  const ids = await Promise.all(
    Array.from({ length: HEALTHY }, async (_, index) => {
      const id = { project: chain.project, domain: chain.domain, name: `h${index}x${Date.now().toString(36)}` };
      await broken.client.admin.createExecution({ ...id, spec: { launchPlan: chain, metadata: {} }, inputs });
      return id;
    }),
  );
  for (const id of ids) {
    const { closure } = await waitForEnd(broken.client, id, 120_000);
    expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
  }
  return performance.now() - start;
}
const DURATION = { value: { case: "duration", value: { seconds: 0n } } } as const;

test("a workload takes about as long beside broken inputs as alone", { timeout: 290_000 }, async () => {
  await measureWorkload();
  let aloneMs = await measureWorkload();

  const announce = () =>
    broken.bus.publishEphemeral(pluginHelloSubject, encodeHeartbeat({ name: "mute", taskTypes: ["mute"], instance: "", uptimeMs: 0 }));
  const timer = setInterval(announce, 1_000);
  announce();
  writeFileSync(join(folder, "loud.py"), HUGE_ERROR_PROGRAM);
  runPython({ stack: broken.stack, folder }, "pyflyte", ["run", "--remote", "--name", "loud", "loud.py", "loud"]);
  const waiting: { readonly id: ExecutionName; readonly because: string }[] = [];
  for (const [type, because] of [
    ["unserved-type", "no plugin service serves task type [unserved-type]"],
    ["mute", "the plugin service for task type [mute] is available but has not answered since"],
  ] as const) {
    const launchPlan = await registerShellWorkflow(broken.client, type, [{ id: "n0", script: "", after: [], type }]);
    for (let i = 0; i < SHARE_OF_EACH; i++) waiting.push({ id: await broken.create(launchPlan), because });
  }
  for (const { id, because } of waiting) expect(await broken.waitForError(id, because)).toMatchObject({ code: "Waiting" });
  const like = await waitFor(() => broken.resource(waiting[0]?.id as ExecutionName));
  const undecodable = createUndecodableCopies(broken.kube, like, "spoilt");
  await waitFor(() => Promise.resolve(undecodable.made() > MIN_UNDECODABLE ? true : undefined));

  let loadedMs = await measureWorkload();
  if (loadedMs > 5 * aloneMs) {
    // Repeat both measurements, first without undecodable resources.
    await undecodable.stop();
    aloneMs = await measureWorkload();
    const repeated = createUndecodableCopies(broken.kube, like, "again");
    loadedMs = await measureWorkload();
    await repeated.stop();
  }
  const made = undecodable.made();
  await undecodable.stop();
  clearInterval(timer);
  process.stdout.write(
    `healthy workload: alone ${aloneMs.toFixed(0)} ms, beside ${waiting.length} that wait and ${made} that cannot be read ${loadedMs.toFixed(0)} ms, ratio ${(loadedMs / aloneMs).toFixed(2)}\n`,
  );
  // A blocked queue would take many times longer; a busy machine alone doubles the time.
  expect(loadedMs / aloneMs).toBeLessThan(5);
  // The load lasted the whole time: blocked executions are still blocked with their reason,
  // undecodable ones have been released.
  for (const { id, because } of waiting) expect(errorOf(await broken.execution(id))?.message).toContain(because);
  const last = await waitFor(async () => {
    const resource = await broken.resource({ project: "", domain: "", name: "spoilt0" });
    return resource !== undefined && (resource.metadata.finalizers ?? []).length === 0 ? resource : undefined;
  });
  expect(last.status).toMatchObject({ error: { code: "BadWorkflowSpecification" } });
  const failing = await waitForEnd(broken.client, { project: "flytesnacks", domain: "development", name: "loud" }, 90_000);
  expect(errorOf(failing)?.message).toContain("BEGIN");
});
