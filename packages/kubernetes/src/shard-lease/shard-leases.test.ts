import { createLogger } from "@flyte-ts/telemetry";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { createKubeClient, type KubeClient } from "../client/client.js";
import { KubeError } from "../client/errors.js";
import { NAMESPACES } from "../client/resources.js";
import { LEASES, memberLease, shardLease } from "./lease-object.js";
import { ShardLeases, type ShardLeasesOptions } from "./shard-leases.js";

type Client = ShardLeasesOptions["client"];

function startLeases(client: Client, group: string): ShardLeases {
  const leases = new ShardLeases({
    client,
    namespace: "leases",
    group,
    shards: 2,
    identity: "b-2",
    stableIdentity: "b",
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

test("stopping does not wait for the first answer of the API server", async () => {
  const down = () => Promise.reject(new KubeError("no answer", { status: 0 }));
  const client = { list: down, watch: down, mergePatch: down, create: down, replace: down, delete: down } as unknown as KubeClient;
  const leases = startLeases(client, "unreachable");
  await leases.stop();
  expect(leases.held.size).toBe(0);
});

const unavailable = await kubernetesSkipReason();

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

  /** Leaves the Leases of a process that was just killed, with minutes left to run. */
  async function killed(group: string, { member, slot }: { member: string; slot: string }): Promise<void> {
    const names = { namespace: "leases", group };
    await client.create(LEASES, memberLease(names, { member, stableIdentity: slot, leaseMs: 600_000, time: new Date() }));
    for (const shard of [0, 1]) await client.create(LEASES, shardLease(names, { shard, member, time: new Date() }));
  }

  function start(group: string, writes: Pick<KubeClient, "create" | "replace" | "delete"> = client): ShardLeases {
    const parts: Client = {
      list: (ref, options) => client.list(ref, options),
      watch: (ref, options) => client.watch(ref, options),
      mergePatch: (ref, patch) => client.mergePatch(ref, patch),
      create: (ref, object, options) => writes.create(ref, object, options),
      replace: (ref, object) => writes.replace(ref, object),
      delete: (ref, options) => writes.delete(ref, options),
    };
    return startLeases(parts, group);
  }

  it("a process takes over at once from its predecessor of the same stable identity", async () => {
    await killed("same", { member: "b-1", slot: "b" });
    const leases = start("same");
    await expect.poll(() => [...leases.held], { timeout: 30_000 }).toEqual([0, 1]);
    await leases.stop();
  });

  it("a write without response is retried soon, whatever the lease time", async () => {
    await killed("lossy", { member: "b-1", slot: "b" });
    const tried = new Set<string>();
    const once = (name: string) => {
      if (tried.has(name)) return;
      tried.add(name);
      throw new KubeError("no answer", { status: 0 });
    };
    const leases = start("lossy", {
      create: async (ref, object, options) => {
        once(object.metadata.name);
        return client.create(ref, object, options);
      },
      replace: async (ref, object) => {
        once(object.metadata.name);
        return client.replace(ref, object);
      },
      delete: async (ref, options) => {
        once(options.name);
        return client.delete(ref, options);
      },
    });
    await expect.poll(() => [...leases.held], { timeout: 30_000 }).toEqual([0, 1]);
    expect([...tried].toSorted()).toEqual(["lossy-member-b-1", "lossy-member-b-2", "lossy-shard-0", "lossy-shard-1"]);
    await leases.stop();
  });

  it("a process waits for the lease time of others", async () => {
    await killed("other", { member: "a-1", slot: "a" });
    const leases = start("other");
    // The process joins after it has listed the Leases, so it has seen the killed process and
    // leaves the shards to that process.
    const joined = () => client.get(LEASES, { namespace: "leases", name: "other-member-b-2" });
    await expect.poll(joined, { timeout: 30_000 }).toBeDefined();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(leases.held.size).toBe(0);
    await leases.stop();
  });
});
