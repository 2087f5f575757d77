import { createKubeClient, type KubeClient, type KubeObject, NAMESPACES, PODS } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import { API_VERSION, FLYTE_WORKFLOW_RESOURCE, KIND, terminatedLabels } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ensurePrerequisites } from "./ensure-prerequisites.js";
import { deleteExpired, retainedHours } from "./garbage-collector.js";

const NOW = Date.parse("2026-11-21T10:30:00Z");
const MINUTE = 60_000;
const logger = createLogger({ service: "test", level: "silent" });

test("resources of an hour are kept until the whole hour has expired", () => {
  expect(retainedHours(NOW, 20 * MINUTE)).toEqual(["2026-11-21.10"]);
  expect(retainedHours(NOW, 31 * MINUTE)).toEqual(["2026-11-21.09", "2026-11-21.10"]);
  expect(retainedHours(NOW, 23 * 60 * MINUTE)).toHaveLength(24);
});

const unavailable = await kubernetesSkipReason();

describe.skipIf(unavailable)("on a real kube-apiserver", () => {
  let server: KubernetesFixture;
  let client: KubeClient;
  beforeAll(async () => {
    server = await kubernetesFixture({ controllers: true });
    client = await createKubeClient({ kubeconfig: server.kubeconfig });
    await ensurePrerequisites({ client, logger, createCrd: true, namespace: "flyte" });
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "garbage" } });
  }, 600_000);
  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  const workflow = (name: string, labels: Readonly<Record<string, string>>) =>
    client.create<KubeObject>(FLYTE_WORKFLOW_RESOURCE, {
      apiVersion: API_VERSION,
      kind: KIND,
      metadata: { namespace: "garbage", name, labels: { ...labels } },
    });
  const names = async () =>
    (await client.list(FLYTE_WORKFLOW_RESOURCE, { namespace: "garbage" })).items.map(({ metadata }) => metadata.name);
  const collect = (isLeader = true) =>
    deleteExpired({
      client,
      logger,
      namespace: undefined,
      ttlMs: 60 * MINUTE,
      now: () => NOW,
      onDeleted: async ({ labels = {} }) => {
        released.push(labels);
      },
      isLeader: () => isLeader,
    });
  const released: Readonly<Record<string, string>>[] = [];

  test("resources that ended long ago are deleted with their dependents; recent, active and incompletely labelled ones are kept", async () => {
    const hoursAgo = (hours: number) => terminatedLabels(new Date(NOW - hours * 60 * MINUTE));
    const old = await workflow("old", hoursAgo(5));
    await workflow("young", hoursAgo(1));
    await workflow("active", {});
    await workflow("active-with-a-time", { "completed-time": hoursAgo(5)["completed-time"] ?? "" });
    await workflow("ended-at-no-time", { "termination-status": "terminated" });
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        namespace: "garbage",
        name: "owned",
        ownerReferences: [{ apiVersion: API_VERSION, kind: KIND, name: "old", uid: old.metadata.uid ?? "" }],
      },
      spec: { containers: [{ name: "a", image: "a" }], serviceAccountName: "default" },
    };
    await vi.waitFor(() => client.create(PODS, pod), { timeout: 30_000, interval: 200 });
    expect(await collect(false)).toBe(0);
    expect(await collect()).toBe(1);
    expect(released).toEqual([expect.objectContaining(hoursAgo(5))]);
    expect(await names()).toEqual(["active", "active-with-a-time", "ended-at-no-time", "young"]);
    await vi.waitFor(async () => expect(await client.get(PODS, { namespace: "garbage", name: "owned" })).toBeUndefined(), {
      timeout: 60_000,
      interval: 500,
    });
    expect(await collect()).toBe(0);
  }, 120_000);
});
