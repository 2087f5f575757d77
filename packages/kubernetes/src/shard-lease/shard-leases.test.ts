import { createLogger } from "@flyte-ts/telemetry";
import { type KubernetesFixture, kubernetesFixture, kubernetesUnavailable } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKubeClient, type KubeClient } from "../client.js";
import { NAMESPACES } from "../resources.js";
import { LEASES, memberLease, shardLease } from "./lease-object.js";
import { ShardLeases } from "./shard-leases.js";

const unavailable = await kubernetesUnavailable();

describe.skipIf(unavailable)("shard leases on a real kube-apiserver", () => {
  let server: KubernetesFixture;
  let client: KubeClient;
  beforeAll(async () => {
    server = await kubernetesFixture();
    client = await createKubeClient({ kubeconfig: server.kubeconfig });
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "leases" } });
  }, 600_000);
  afterAll(async () => {
    await client.close();
    await server.stop();
  });

  /** What a process leaves that was killed a moment ago, with time left for minutes. */
  async function killed(group: string, { member, slot }: { member: string; slot: string }): Promise<void> {
    const names = { namespace: "leases", group };
    await client.create(LEASES, memberLease(names, { member, slot, leaseMs: 600_000, time: new Date() }));
    for (const shard of [0, 1]) await client.create(LEASES, shardLease(names, { shard, member, time: new Date() }));
  }

  function start(group: string): ShardLeases {
    const leases = new ShardLeases({
      client,
      namespace: "leases",
      group,
      shards: 2,
      identity: "b-2",
      slot: "b",
      leaseMs: 600_000,
      logger: createLogger({ service: "test", level: "silent" }),
      clock: () => performance.now(),
      random: Math.random,
      onGained: () => undefined,
      onLost: () => Promise.resolve(),
    });
    leases.start();
    return leases;
  }

  it("takes over from who had its place before at once", async () => {
    await killed("same", { member: "b-1", slot: "b" });
    const leases = start("same");
    await expect.poll(() => [...leases.held], { timeout: 30_000 }).toEqual([0, 1]);
    await leases.stop();
  });

  it("waits for others, whose end nobody knows", async () => {
    await killed("other", { member: "a-1", slot: "a" });
    const leases = start("other");
    // It takes part: so it has seen the other, and leaves it its shards.
    const joined = () => client.get(LEASES, { namespace: "leases", name: "other-member-b-2" });
    await expect.poll(joined, { timeout: 30_000 }).toBeDefined();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(leases.held.size).toBe(0);
    await leases.stop();
  });
});
