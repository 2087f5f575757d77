import { createLogger } from "@flyte-ts/telemetry";
import { type FaultProxy, type KubernetesFixture, kubernetesFixture, kubernetesSkipReason, startFaultProxy } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  CONFIG_MAPS,
  createInformer,
  createKubeClient,
  type KubeClient,
  type KubeObject,
  LEASES,
  NAMESPACES,
  runLeaderElection,
  ShardLeases,
} from "./index.js";

const logger = createLogger({ service: "test", level: "silent" });
const namespace = "faults";
const POLL = { timeout: 30_000, interval: 50 };

describe.skipIf(await kubernetesSkipReason())("a Kubernetes API that fails", () => {
  let kubernetes: KubernetesFixture;
  let proxy: FaultProxy;
  let direct: KubeClient;
  let client: KubeClient;
  beforeAll(async () => {
    kubernetes = await kubernetesFixture();
    proxy = await startFaultProxy(kubernetes);
    direct = await createKubeClient({ kubeconfig: kubernetes.kubeconfig });
    client = await createKubeClient({ kubeconfig: proxy.kubeconfig, timeoutMs: 2_000 });
    await direct.create(NAMESPACES, { metadata: { name: namespace } });
  }, 600_000);
  afterAll(async () => {
    await client?.close();
    await direct?.close();
    await proxy?.stop();
    await kubernetes?.stop();
  });

  test("an informer recovers from every fault with the missed changes and few requests", async () => {
    const labelSelector = "set=one";
    const seen: string[] = [];
    const onEvent = ({ type, key }: { type: string; key: string }) => seen.push(`${type} ${key.split("/")[1]}`);
    const informer = createInformer<KubeObject>({
      client,
      ref: CONFIG_MAPS,
      namespace,
      labelSelector,
      idleTimeoutMs: 3_000,
      logger,
      onEvent,
    });
    await informer.synced;
    const create = (name: string) => direct.create(CONFIG_MAPS, { metadata: { namespace, name, labels: { set: "one" } } });
    const remove = (name: string) => direct.delete(CONFIG_MAPS, { namespace, name });
    const names = () => informer.list().map(({ metadata }) => metadata.name);
    try {
      await create("first");
      await vi.waitFor(() => expect(names()).toEqual(["first"]), POLL);

      await proxy.set({ kind: "refused" });
      await create("refused");
      await remove("first");
      await proxy.set({ kind: "none" });
      await vi.waitFor(() => expect(names()).toEqual(["refused"]), POLL);

      await proxy.set({ kind: "silent" });
      await create("silent");
      await proxy.set({ kind: "none" });
      await vi.waitFor(() => expect(names()).toContain("silent"), POLL);

      const before = proxy.requests;
      await proxy.set({ kind: "answering", status: 429 });
      proxy.resetConnections();
      await create("turned-away");
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect(proxy.requests - before).toBeLessThan(20);
      await proxy.set({ kind: "none" });
      await vi.waitFor(() => expect(names()).toContain("turned-away"), POLL);

      proxy.expireWatches(4);
      await create("gone");
      await remove("silent");
      await vi.waitFor(() => expect(names().toSorted()).toEqual(["gone", "refused", "turned-away"]), POLL);

      // The server has compacted its own history.
      await kubernetes.kill();
      await kubernetes.etcd.compact();
      await kubernetes.restart();
      await create("compacted");
      await vi.waitFor(() => expect(names()).toContain("compacted"), POLL);
      // Each change is reported once, by the watch or by a list.
      expect(seen.toSorted()).toEqual(
        ["first", "refused", "silent", "turned-away", "gone", "compacted"]
          .map((name) => `added ${name}`)
          .concat("deleted first", "deleted silent")
          .toSorted(),
      );
    } finally {
      await proxy.set({ kind: "none" });
      await informer.stop();
    }
  }, 120_000);

  test("an expired membership is not renewed, and a process with the same stable identity takes over at once", async () => {
    const SHARDS = 4;
    const process = (identity: string, slot?: string) =>
      new ShardLeases({
        client,
        namespace,
        group: slot ?? "group",
        shards: SHARDS,
        identity,
        stableIdentity: slot,
        // With a slot, the successor does not wait for the lease time.
        leaseMs: slot === undefined ? 3_000 : 300_000,
        logger,
        clock: () => performance.now(),
        random: Math.random,
        onGained: () => undefined,
        onLost: () => Promise.resolve(),
      });
    const members = async (group: string) =>
      (await direct.list(LEASES, { namespace })).items
        .map(({ metadata }) => metadata.name)
        .filter((name) => name.startsWith(`${group}-member-`));
    const first = process("first");
    first.start();
    await vi.waitFor(() => expect(first.held.size).toBe(SHARDS), POLL);
    await direct.delete(LEASES, { namespace, name: "group-member-first" });
    await vi.waitFor(async () => expect(await members("group")).toEqual(["group-member-first-2"]), POLL);
    await vi.waitFor(() => expect(first.held.size).toBe(SHARDS), POLL);

    // A process that is cut off for longer than its lease holds no shard. It holds shards again
    // after the connection returns.
    await proxy.set({ kind: "silent" });
    await vi.waitFor(() => expect(first.holds(0)).toBe(false), POLL);
    await proxy.set({ kind: "none" });
    await vi.waitFor(() => expect(first.holds(0)).toBe(true), POLL);
    await first.stop();
    expect(await members("group")).toEqual([]);

    await direct.create(LEASES, {
      metadata: { namespace, name: "place-member-dead", labels: { "flyte.org/lease-group": "place", "flyte.org/lease-slot": "place" } },
    });
    const next = process("next", "place");
    next.start();
    await vi.waitFor(() => expect(next.held.size).toBe(SHARDS), POLL);
    expect(await members("place")).toEqual(["place-member-next"]);
    await next.stop();
  }, 120_000);

  test("one of two candidates leads, and a leader without connection is notified before the other takes over", async () => {
    const happened: string[] = [];
    const run = (identity: string, through: KubeClient) => {
      const leader = runLeaderElection({
        client: through,
        namespace,
        group: "one",
        identity,
        leaseMs: 3_000,
        logger,
        clock: () => performance.now(),
        random: Math.random,
        onLost: () => happened.push(`${identity} lost`),
      });
      void leader.becameLeader.then(() => happened.push(`${identity} leads`));
      return leader;
    };
    const first = run("first", client);
    await first.becameLeader;
    const second = run("second", direct);
    await proxy.set({ kind: "refused" });
    await second.becameLeader;
    await proxy.set({ kind: "none" });
    expect(happened).toEqual(["first leads", "first lost", "second leads"]);
    await Promise.all([first.stop(), second.stop()]);
    expect(happened).toHaveLength(3);
  });
});
