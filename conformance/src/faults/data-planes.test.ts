import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { createKubeClient, type KubeClient, type KubeObject, PODS, RESOURCE_QUOTAS } from "@flyte-ts/kubernetes";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../stack/control-plane.fixture.js";
import { retryWhileUnavailable, nodeAndAttemptPhases, waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";

/**
 * `DATA_PLANES=full`: three admins, hundreds of executions, and a cluster outage of two minutes.
 */
const FULL = process.env.DATA_PLANES === "full";
const ADMINS = FULL ? 3 : 2;
/** Number of executions created before the outage, and again after admin has detected it. */
const EXECUTIONS = FULL ? 150 : 8;
const OUTAGE_MS = FULL ? 120_000 : 0;
const TIMEOUT_MS = FULL ? 300_000 : 90_000;

const scope = { project: "flytesnacks", domain: "development" };
const NAMESPACE = "flytesnacks-development";
const templates = mkdtempSync(join(tmpdir(), "flyte-ts-templates-"));

let plane: ControlPlane;
/** Clients of the replicas of admin. */
let clients: readonly FlyteClient[];
/** Kubernetes clients that bypass the proxies, by cluster. */
let clusters: Readonly<Record<string, KubeClient>>;
let workflow: Identifier;

beforeAll(async () => {
  const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "quota" }, spec: { hard: { "count/pods": "{{ pods }}" } } };
  writeFileSync(join(templates, "quota.yaml"), JSON.stringify(quota));
  plane = await startControlPlane(ADMINS, {
    dataPlanes: ["east", "west"],
    admin: {
      placement: { labelClusterMap: { east: [{ id: "east" }], west: [{ id: "west" }] } },
      clusterHealth: { intervalMs: 500 },
      clusterResources: { templatePath: templates, templateData: { pods: { value: "500" } }, refreshIntervalSeconds: 1 },
    },
  });
  clients = plane.admins.map(({ api }) => createFlyteClient({ endpoint: `127.0.0.1:${api}` }));
  const opened = await Promise.all(
    plane.dataPlanes.map(async ({ name, kubeconfig }) => [name, await createKubeClient({ kubeconfig })] as const),
  );
  clusters = Object.fromEntries(opened);
  workflow = await registerShellWorkflow(admin(0), "placed", [
    { id: "n0", script: "sleep 1", after: [] },
    { id: "n1", script: "true", after: ["n0"] },
  ]);
}, 180_000);
afterAll(async () => {
  for (const client of clients ?? []) client.close();
  await Promise.all(Object.values(clusters ?? {}).map((cluster) => cluster.close()));
  await plane?.stop();
  rmSync(templates, { recursive: true, force: true });
}, 60_000);

const admin = (index: number) => {
  const client = clients[index];
  if (client === undefined) throw new Error("no such replica");
  return client;
};
const key = (name: string) => ({ ...scope, name });
const run = (client: FlyteClient, name: string, label = "") =>
  client.admin.createExecution({
    ...scope,
    name,
    spec: { launchPlan: workflow, ...(label && { executionClusterLabel: { value: label } }) },
  });
const endOf = async (name: string) => {
  const { closure, spec } = await waitForEnd(admin(1), key(name), TIMEOUT_MS);
  const placed = spec?.metadata?.systemMetadata?.executionCluster ?? "";
  return { phase: WorkflowExecution_Phase[closure?.phase ?? 0], cluster: placed };
};
/** Counts the pods of an execution in each cluster. */
const podsOf = async (name: string) => {
  const found = await Promise.all(
    Object.entries(clusters).map(async ([cluster, client]) => {
      const { items } = await client.list(PODS, { namespace: NAMESPACE, labelSelector: `execution-id=${name}` });
      return [cluster, items.length] as const;
    }),
  );
  return Object.fromEntries(found.filter(([, count]) => count > 0));
};

test("an execution runs only in its cluster, by that cluster's services", async () => {
  await Promise.all(["east", "west"].flatMap((label) => [1, 2, 3].map((i) => run(admin(i % 2), `${label}${i}`, label))));
  for (const label of ["east", "west"]) {
    for (const i of [1, 2, 3]) {
      expect(await endOf(`${label}${i}`)).toEqual({ phase: "SUCCEEDED", cluster: label });
      expect(await podsOf(`${label}${i}`)).toEqual({ [label]: 2 });
    }
  }
}, 120_000);

/** States that the remaining replicas report. Each detects an outage for itself. */
const clusterStates = async () => {
  const reports = await Promise.all(
    plane.admins.slice(1).map(async ({ api }) => {
      const answer = await fetch(`http://127.0.0.1:${api}/api/v1/clusters`);
      const { clusters: reported } = (await answer.json()) as { clusters: { name: string; state: string }[] };
      return reported.map(({ name, state }) => `${name} ${state}`);
    }),
  );
  return [...new Set(reports.flat())].toSorted();
};

test(
  "executions are placed in the other cluster during an outage and continue after it, although admin and the bus fail",
  async () => {
    const east = plane.dataPlanes[0]?.api;
    const [lost] = plane.admins;
    const before = Array.from({ length: EXECUTIONS }, (_, i) => `before${i}x`);
    const begun = Date.now();
    await Promise.all(before.map((name, i) => run(admin(i % ADMINS), name, i < EXECUTIONS / 2 ? "east" : "")));
    await east?.set({ kind: "refused" });
    await lost?.process.kill();
    // Admin may still place executions in the unreachable cluster until the remaining replicas have
    // detected the outage. It moves them before they are launched. An execution whose request was
    // sent on a broken connection may exist in that cluster and stays there.
    const meanwhile = Array.from({ length: 4 }, (_, i) => `meanwhile${i}`);
    await Promise.all(meanwhile.map((name) => run(admin(1), name)));
    await expect.poll(clusterStates, { timeout: 30_000 }).toEqual(["east open", "west closed"]);
    const after = Array.from({ length: EXECUTIONS }, (_, i) => `after${i}x`);
    await Promise.all(after.map((name, i) => run(admin(1 + (i % (ADMINS - 1))), name)));
    await run(admin(1), "waits", "east");
    await plane.nats.restart();
    for (const name of after) expect(await endOf(name)).toEqual({ phase: "SUCCEEDED", cluster: "west" });
    await expect
      .poll(
        async () => {
          const { closure } = await retryWhileUnavailable(() => admin(1).admin.getExecution({ id: key("waits") }));
          return closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
        },
        { timeout: 30_000 },
      )
      .toMatch(/^data plane east is down since .*: its API does not answer$/);
    await sleep(Math.max(0, begun + OUTAGE_MS - Date.now()));
    expect(await clusterStates()).toEqual(["east open", "west closed"]);
    const back = Date.now();
    await east?.set({ kind: "none" });
    await lost?.process.restart();
    expect(await endOf("waits")).toEqual({ phase: "SUCCEEDED", cluster: "east" });
    for (const [i, name] of [...before, ...meanwhile].entries()) {
      const { phase, cluster } = await endOf(name);
      expect([name, phase, cluster]).toEqual([name, "SUCCEEDED", i < EXECUTIONS / 2 ? "east" : cluster]);
      expect(Object.keys(await podsOf(name))).toEqual([cluster]);
    }
    process.stdout.write(`all have ended ${((Date.now() - back) / 1_000).toFixed(1)} s after the cluster was back\n`);
    const complete = ["n0 0 SUCCEEDED", "n0 SUCCEEDED", "n1 0 SUCCEEDED", "n1 SUCCEEDED"];
    for (const name of [...before, ...meanwhile, ...after, "waits"]) {
      // Poll: messages that the killed replica had received are redelivered to another replica,
      // possibly after the execution has ended.
      await expect.poll(() => nodeAndAttemptPhases(admin(1), key(name)), { message: name, timeout: TIMEOUT_MS }).toEqual(complete);
    }
  },
  240_000 + OUTAGE_MS + 2 * TIMEOUT_MS,
);

test("objects of templates are created in every cluster and repaired after a change", async () => {
  const object = { namespace: NAMESPACE, name: "quota" };
  const hard = (cluster: KubeClient | undefined) =>
    cluster?.get<KubeObject & { spec: { hard: object } }>(RESOURCE_QUOTAS, object).then((quota) => quota?.spec.hard);
  // The killed replica may hold the lease of a sync for another 30 s, and a busy machine is slow.
  const timeout = 300_000;
  for (const cluster of Object.values(clusters)) {
    await expect.poll(() => hard(cluster), { timeout }).toEqual({ "count/pods": "500" });
  }
  await clusters["west"]?.mergePatch(RESOURCE_QUOTAS, { ...object, body: { spec: { hard: { "count/pods": "1", "requests.cpu": "9" } } } });
  await expect.poll(() => hard(clusters["west"]), { timeout }).toEqual({ "count/pods": "500", "requests.cpu": "9" });
}, 1_000_000);
