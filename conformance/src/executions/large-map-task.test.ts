import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { createKubeClient, type KubeClient, type KubeObject, NODES, PODS } from "@flyte-ts/kubernetes";
import { findKwok, startKwok, startScheduler } from "@flyte-ts/test-servers";
import { type LocalServer } from "@flyte-ts/local-servers";
import { type KubernetesFixture, kubernetesFixture, testWatchdog } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ControlPlane, startControlPlane } from "../stack/control-plane.fixture.js";
import { retryWhileUnavailable, waitForEnd } from "../stack/executions.js";
import { cpuSecondsOf } from "../stack/cpu-time.js";
import { registerMapTask } from "../stack/map-task.js";
import { TARGET } from "../stack/shell-tasks.js";

const POD_COUNT = Number(process.env.MANY_PODS ?? 1_000);
const CALLS_PER_POD = 4;
/** Duration of a pod, ms. */
const POD_MS = 200;
const NODE_COUNT = 10;
const NAMESPACE = "flytesnacks-development";

/** A line of the API server's audit log. */
interface AuditedRequest {
  readonly userAgent?: string;
  readonly verb: string;
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
}

/**
 * Runs pods without a kubelet on a real API server and scheduler, to measure the services and the
 * server only.
 */
describe.runIf(process.env.E2E_KUBERNETES === "1")("many short pods of one map task", () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-many-pods-"));
  const log = join(folder, "audit.log");
  const servers: LocalServer[] = [];
  let kubernetes: KubernetesFixture;
  let kube: KubeClient;
  let plane: ControlPlane;
  let client: FlyteClient;

  beforeAll(async () => {
    await findKwok({ onProgress: (what) => process.stderr.write(`building ${what} (once, takes a few minutes) …\n`) });
    const policy = {
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      omitStages: ["RequestReceived", "ResponseStarted"],
      rules: [{ level: "Metadata" }],
    };
    writeFileSync(join(folder, "policy.yaml"), JSON.stringify(policy));
    const args = [`--audit-policy-file=${join(folder, "policy.yaml")}`, `--audit-log-path=${log}`];
    kubernetes = await kubernetesFixture({ controllers: true, args });
    kube = await createKubeClient({ kubeconfig: kubernetes.kubeconfig });
    const { kubeconfig } = kubernetes;
    for (const name of Array.from({ length: NODE_COUNT }, (_, index) => `node-${index}`)) {
      await kube.create(NODES, node(name));
      // A new node has a taint that a controller, absent here, removes when the node is ready.
      await kube.mergePatch(NODES, { name, body: { spec: { taints: null } } });
    }
    const guard = testWatchdog();
    servers.push(await startScheduler({ kubeconfig, certificateDir: join(folder, "scheduler"), watchdog: guard }));
    servers.push(await startKwok({ kubeconfig, configDir: folder, podDurationMs: POD_MS, watchdog: guard }));
    plane = await startControlPlane(1, { plugins: ["pod"], kubernetes });
    client = createFlyteClient({ endpoint: `127.0.0.1:${plane.admins[0]?.api}` });
  }, 1_200_000);
  afterAll(async () => {
    client?.close();
    await plane?.stop();
    await kube?.close();
    for (const server of servers.reverse()) await server.kill();
    await kubernetes?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 120_000);

  test(`${POD_COUNT} pods all complete with few API calls each`, async () => {
    const launchPlan = await registerMapTask(client, { name: "many", size: POD_COUNT, container: { image: "none:1", command: ["true"] } });
    const id = { project: TARGET.project, domain: TARGET.domain, name: "many" };
    const [dataPlane] = plane.dataPlanes;
    const pids = {
      "kube-apiserver": kubernetes.pid(),
      etcd: kubernetes.etcd.pid(),
      "kube-scheduler": servers[0]?.pid ?? 0,
      kwok: servers[1]?.pid ?? 0,
      admin: plane.admins[0]?.process.pid ?? 0,
      propeller: dataPlane?.propellers[0]?.pid ?? 0,
      "pod plugin": dataPlane?.plugins.pod?.[0]?.pid ?? 0,
    };
    const used = Object.entries(pids).map(([name, pid]) => ({ name, pid, before: cpuSecondsOf(pid) }));
    const from = readFileSync(log, "utf8").length;
    const begun = Date.now();
    await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {}, maxParallelism: POD_COUNT } });
    const execution = await waitForEnd(client, id, 600_000);
    const seconds = (Date.now() - begun) / 1_000;
    const { case: result, value } = execution.closure?.outputResult ?? { case: undefined };
    expect(WorkflowExecution_Phase[execution.closure?.phase ?? 0], result === "error" ? value.message.slice(0, 2_000) : "").toBe(
      "SUCCEEDED",
    );

    const calls = countServiceRequests(readFileSync(log, "utf8").slice(from));
    const total = [...calls.values()].reduce((sum, count) => sum + count, 0);
    const lines = [
      `${POD_COUNT} pods in ${seconds.toFixed(1)} s, ${(POD_COUNT / seconds).toFixed(0)} a second; ${(total / POD_COUNT).toFixed(2)} calls a pod`,
      ...[...calls].toSorted(([, a], [, b]) => b - a).map(([what, count]) => `  ${what}: ${count}`),
      `processor seconds: ${used.map(({ name, pid, before }) => `${name} ${(cpuSecondsOf(pid) - before).toFixed(1)}`).join(", ")}`,
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
    expect(calls.get("flyte-ts-plugin-pod create pods")).toBe(POD_COUNT);
    expect(total / POD_COUNT).toBeLessThanOrEqual(CALLS_PER_POD);

    const { items } = await kube.list<KubeObject & { status?: { phase?: string } }>(PODS, { namespace: NAMESPACE });
    expect(items.filter(({ status }) => status?.phase !== "Succeeded")).toEqual([]);
    const { nodeExecutions } = await retryWhileUnavailable(() => client.admin.listNodeExecutions({ workflowExecutionId: id, limit: 100 }));
    const map = nodeExecutions.find((each) => each.id?.nodeId === "n0");
    const { taskExecutions } = await retryWhileUnavailable(() => client.admin.listTaskExecutions({ nodeExecutionId: map!.id!, limit: 10 }));
    expect(taskExecutions).toHaveLength(1);
    const resources = taskExecutions[0]?.closure?.metadata?.externalResources ?? [];
    expect(resources).toHaveLength(POD_COUNT);
    expect(resources.filter(({ phase }) => phase !== TaskExecution_Phase.SUCCEEDED)).toEqual([]);
  }, 700_000);
});

function node(name: string): KubeObject {
  const room = { cpu: "1000", memory: "1000Gi", pods: "1000" };
  const status = { capacity: room, allocatable: room, conditions: [{ type: "Ready", status: "True", reason: "KubeletReady" }] };
  return { apiVersion: "v1", kind: "Node", metadata: { name, labels: { "kubernetes.io/hostname": name } }, status } as KubeObject;
}

/** Counts the requests of each service by verb and resource; a watch counts once. */
function countServiceRequests(text: string): Map<string, number> {
  const calls = new Map<string, number>();
  for (const line of text.split("\n").filter((each) => each.includes("flyte-ts-"))) {
    const { userAgent = "", verb, objectRef } = JSON.parse(line) as AuditedRequest;
    if (!userAgent.startsWith("flyte-ts-")) continue;
    const what = `${userAgent} ${verb} ${[objectRef?.resource, objectRef?.subresource].filter(Boolean).join("/")}`;
    calls.set(what, (calls.get(what) ?? 0) + 1);
  }
  return calls;
}
