import { setTimeout as sleep } from "node:timers/promises";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { type KubeClient, KubeError, LeaderElector } from "./index.js";

const logger = createLogger({ service: "test", level: "silent" });

/** One Lease with the server's rule about resource versions; `cut` makes it unreachable for one identity. */
function leaseStore() {
  let stored: { metadata: { resourceVersion: string } } | undefined;
  let version = 0;
  const cut = new Set<string>();
  const client = (identity: string) => {
    const reach = () => {
      if (cut.has(identity)) throw new KubeError("unreachable", { status: 0 });
    };
    return {
      get: () =>
        Promise.resolve()
          .then(reach)
          .then(() => structuredClone(stored)),
      create: async (_: unknown, object: object) => {
        reach();
        if (stored) throw new KubeError("exists", { status: 409, reason: "AlreadyExists" });
        stored = structuredClone({ ...object, metadata: { resourceVersion: String(++version) } });
      },
      replace: async (_: unknown, object: { metadata: { resourceVersion: string } }) => {
        reach();
        if (stored?.metadata.resourceVersion !== object.metadata.resourceVersion)
          throw new KubeError("changed", { status: 409, reason: "Conflict" });
        stored = structuredClone({ ...object, metadata: { resourceVersion: String(++version) } });
      },
    } as unknown as KubeClient;
  };
  return { client, cut };
}

test("one leads at a time; a leader that is cut off steps down before another takes over; a stopped one hands over at once", async () => {
  const store = leaseStore();
  const leading = new Set<string>();
  let most = 0;
  const history: string[] = [];
  const elector = (identity: string) =>
    new LeaderElector({
      client: store.client(identity),
      namespace: "flyte",
      name: "propeller",
      identity,
      leaseMs: 1_000,
      logger,
      onAcquired: () => {
        leading.add(identity);
        history.push(identity);
        most = Math.max(most, leading.size);
      },
      onLost: () => leading.delete(identity),
    });
  const until = async (condition: () => boolean) => {
    for (let i = 0; i < 400 && !condition(); i++) await sleep(20);
    expect(condition()).toBe(true);
  };
  const a = elector("a");
  const b = elector("b");
  a.start();
  await until(() => leading.has("a"));
  b.start();
  await sleep(500);
  expect([...leading]).toEqual(["a"]);
  store.cut.add("a");
  await until(() => leading.has("b"));
  expect(history).toEqual(["a", "b"]);
  store.cut.delete("a");
  leading.delete("b");
  await b.stop();
  await until(() => leading.has("a"));
  await a.stop();
  expect(most).toBe(1);
});
