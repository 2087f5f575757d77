import { KubeError } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test, vi } from "vitest";
import { MemoryKube } from "../../dispatch/launcher/memory-kube.fixture.js";
import { clusterHealthSchema } from "../config-schema.js";
import { apiFailureReason, watchClusters } from "./health.js";

const logger = createLogger({ service: "test", level: "silent" });
const limits = clusterHealthSchema.parse({ intervalMs: 20, timeoutMs: 50, failures: 2 });

function watch(kubes: Record<string, Pick<MemoryKube, "get">>, back: string[] = []) {
  const clusters = Object.entries(kubes).map(([name, kube]) => ({ name, kube }));
  return watchClusters({ clusters, limits, logger, now: Date.now, onRecovered: (name) => back.push(name) });
}

test("an outage of one cluster fails its pending calls, ends with its recovery, and does not affect another cluster", async () => {
  const [east, west] = [new MemoryKube(), new MemoryKube()];
  const back: string[] = [];
  const health = await watch({ east, west }, back);
  expect(health.unhealthyReason("east")).toBeUndefined();
  const work = health.raceWithHealth("east", new Promise(() => undefined));
  east.down = true;
  await expect(work).rejects.toThrow(/data plane east is down since .*: its API does not answer/);
  expect(health.unhealthyReason("east")).toContain("its API does not answer");
  expect(health.breaker("east")?.state).toBe("open");
  expect([health.unhealthyReason("west"), health.unhealthyReason("unknown")]).toEqual([undefined, undefined]);
  expect(await health.raceWithHealth("west", Promise.resolve(7))).toBe(7);
  east.down = false;
  await vi.waitFor(() => expect(health.unhealthyReason("east")).toBeUndefined(), 10_000);
  expect(back).toEqual(["east"]);
  await health.close();
});

test("a cluster that is unreachable or unresponsive at the start is down at once", async () => {
  const down = new MemoryKube();
  down.down = true;
  const silent = { get: () => new Promise<never>(() => undefined) };
  const health = await watch({ down, silent });
  expect(health.breaker("down")?.state).toBe("open");
  expect(health.unhealthyReason("silent")).toContain("its API does not answer");
  await health.close();
});

test("only some statuses of responses mean that the whole API has failed", () => {
  const of = (status: number) => apiFailureReason(new KubeError("at 10.1.2.3", { status }));
  expect([of(0), of(401), of(503), of(429)]).toEqual([
    "its API does not answer",
    "its API does not accept admin's credentials",
    "its API answers with HTTP 503",
    "its API answers with HTTP 429",
  ]);
  expect([of(403), of(404), of(422)]).toEqual([undefined, undefined, undefined]);
});
