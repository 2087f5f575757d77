import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Code, createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "../stack/control-plane.fixture.js";
import { retryWhileUnavailable, nodeAndAttemptPhases, waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { registerSleepChain, sleepInputs } from "../stack/sleep-chain.js";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

/** `BACKUP=full` also waits until orphans are found, which takes some minutes. */
const FULL = process.env.BACKUP === "full";
const TIMEOUT_MS = 180_000;
const SCOPE = { project: "flytesnacks", domain: "development" };
const program = builtProgram(join(root, "packages/cli"));
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-backup-"));
const at = (name: string) => join(folder, name);

let plane: ControlPlane | undefined;
let client: FlyteClient;

const flyteTs = (...words: readonly string[]) => promisify(execFile)(process.execPath, [program, ...words]).then(({ stdout }) => stdout);

async function start(options: ControlPlaneOptions): Promise<ControlPlane> {
  plane = await startControlPlane(1, { plugins: ["echo", "pod"], ...options });
  client = createFlyteClient({ endpoint: `127.0.0.1:${plane.admins[0]?.api}` });
  return plane;
}

async function stop(): Promise<void> {
  client?.close();
  const ended = plane;
  plane = undefined;
  await ended?.stop();
}

const startExecution = (name: string, launchPlan: Identifier, inputs?: LiteralMap) =>
  client.admin.createExecution({ ...SCOPE, name, spec: { launchPlan, metadata: {} }, ...(inputs && { inputs }) });
const phaseOf = async (name: string) => {
  const { closure } = await waitForEnd(client, { ...SCOPE, name }, TIMEOUT_MS);
  return WorkflowExecution_Phase[closure?.phase ?? 0];
};
const nodePhase = async (name: string, nodeId: string) => {
  const { nodeExecutions } = await retryWhileUnavailable(() =>
    client.admin.listNodeExecutions({ workflowExecutionId: { ...SCOPE, name }, limit: 10 }),
  );
  return nodeExecutions.find(({ id }) => id?.nodeId === nodeId)?.closure?.phase ?? 0;
};
/** Waits until the node's phase is RUNNING or later. */
async function waitUntilRunning(name: string, nodeId: string): Promise<void> {
  const runs = async () => (await nodePhase(name, nodeId)) >= NodeExecution_Phase.RUNNING;
  await expect.poll(runs, { message: `${name} ${nodeId}`, timeout: TIMEOUT_MS }).toBe(true);
}
/** Everything that users see of an ended execution. */
const historyOf = async (name: string) => {
  const { spec, closure } = await retryWhileUnavailable(() => client.admin.getExecution({ id: { ...SCOPE, name } }));
  const { phase, startedAt, duration, createdAt } = closure ?? {};
  return {
    launchPlan: spec?.launchPlan?.name,
    phase,
    startedAt,
    duration,
    createdAt,
    parts: await nodeAndAttemptPhases(client, { ...SCOPE, name }),
  };
};

beforeAll(async () => {
  await start({ blobs: at("blobs") });
}, 300_000);
afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

test("executions backed up while they ran continue after a restore, and the history is complete", async () => {
  const { postgres, dataPlanes } = plane as ControlPlane;
  const chain = await registerSleepChain(client, 3);
  const script = `test -e ${at("gate")} || sleep 600`;
  const pods = await registerShellWorkflow(client, "pods", [
    { id: "n0", script: "true", after: [] },
    { id: "n1", script, after: ["n0"] },
  ]);
  writeFileSync(at("gate"), "");
  const past = ["past-chain", "past-pods"];
  await startExecution("past-chain", chain, sleepInputs(50));
  await startExecution("past-pods", pods);
  for (const name of past) expect(await phaseOf(name)).toBe("SUCCEEDED");
  const history = await Promise.all(past.map(historyOf));
  // From here on tasks do not end by themselves.
  rmSync(at("gate"));
  await startExecution("chain", chain, sleepInputs(8_000));
  await startExecution("pods", pods);
  await waitUntilRunning("chain", "n0");
  await waitUntilRunning("pods", "n1");

  const printed = await flyteTs("backup", "--to", at("rows"), "--databases.admin", postgres.url);
  expect(printed).toBe("database admin: admin.dump\n");
  // Create it between the backup of the databases and that of the resources, as can happen within
  // one backup: it becomes an orphan.
  await startExecution("orphan", chain, sleepInputs(3_600_000));
  await waitUntilRunning("orphan", "n0");
  await expect(flyteTs("backup", "--to", at("rows"), "--kubeconfig", dataPlanes[0]?.kubeconfig ?? "")).rejects.toThrow("exists already");
  expect(await flyteTs("backup", "--to", at("resources"), "--kubeconfig", dataPlanes[0]?.kubeconfig ?? "")).toBe(
    "data plane local: 5 FlyteWorkflows, workflows-local.jsonl.gz\n",
  );
  cpSync(at("blobs"), at("blobs-copy"), { recursive: true });
  await stop();
  rmSync(at("blobs"), { recursive: true });

  writeFileSync(at("gate"), "");
  await start({
    blobs: at("blobs-copy"),
    prepare: async (databaseUrl, [kubeconfig = ""]) => {
      expect(await flyteTs("restore", "--from", at("rows"), "--databases.admin", databaseUrl)).toMatch(/^database admin: as of 20/);
      expect(await flyteTs("restore", "--from", at("resources"), "--kubeconfig", kubeconfig)).toBe(
        "data plane local: 5 FlyteWorkflows created\n",
      );
      await expect(flyteTs("restore", "--from", at("rows"), "--databases.admin", databaseUrl)).rejects.toThrow(
        /database admin holds \d+ tables/,
      );
      await expect(flyteTs("restore", "--from", at("rows"), "--kubeconfig", kubeconfig)).rejects.toThrow(
        "holds no backup of data plane local",
      );
    },
  });
  expect(await Promise.all(past.map(historyOf))).toEqual(history);
  expect([await phaseOf("chain"), await phaseOf("pods")]).toEqual(["SUCCEEDED", "SUCCEEDED"]);
  await expect
    .poll(() => nodeAndAttemptPhases(client, { ...SCOPE, name: "chain" }), { timeout: TIMEOUT_MS })
    .toEqual(["n0 0 SUCCEEDED", "n0 SUCCEEDED", "n1 0 SUCCEEDED", "n1 SUCCEEDED", "n2 0 SUCCEEDED", "n2 SUCCEEDED"]);
  await startExecution("new", chain, sleepInputs(50));
  expect(await phaseOf("new")).toBe("SUCCEEDED");
  const missing = await client.admin.getExecution({ id: { ...SCOPE, name: "orphan" } }).catch((error: unknown) => error);
  expect(missing).toMatchObject({ code: Code.NOT_FOUND });
}, 600_000);

test.runIf(FULL)(
  "an orphaned execution is stopped and its resource deleted",
  async () => {
    const kube = await createKubeClient({ kubeconfig: plane?.dataPlanes[0]?.kubeconfig ?? "" });
    const orphan = { namespace: "flytesnacks-development", name: "orphan" };
    await expect
      .poll(async () => (await kube.get(FLYTE_WORKFLOW_RESOURCE, orphan))?.metadata.finalizers?.length ?? 0, {
        timeout: 600_000,
        interval: 1_000,
      })
      .toBe(0);
    await kube.close();
    const lines = plane?.admins[0]?.process.log().filter((line) => line.includes("is not in the database; stopping it"));
    expect(lines).toHaveLength(1);
  },
  660_000,
);
