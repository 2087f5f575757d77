import { ManualTime } from "@flyte-ts/async/manual-time";
import { buildPod, type Pod } from "@flyte-ts/pod-task";
import { takePatch, warmStart } from "@flyte-ts/pod-task/warm";
import { attemptKey } from "@flyte-ts/task-plugin";
import { expect, test } from "vitest";
import { config } from "./simulation/pod-world.js";
import { warmRequest } from "./simulation/warm-world.js";
import { UnwatchedPods } from "./unwatched-pods.js";

const requestOf = (node: number) => warmRequest({ generatedName: `a-n${node}-0`, nodePath: `n${node}` });
const IDLE: Pod = { metadata: { name: "warm-0", namespace: "p-development", uid: "u", resourceVersion: "1" }, spec: { containers: [] } };

/** The pod once the attempt of a node has taken it. */
function takenBy(node: number): Pod {
  const request = requestOf(node);
  const start = warmStart(buildPod(request, { config: config.pods }), request, { python: "python3", maxIdleSeconds: 1_800 });
  if (start === undefined) throw new Error("the task cannot take a warm pod");
  const { metadata } = takePatch(IDLE, request, { start, now: new Date(0) });
  return { ...IDLE, metadata: { ...IDLE.metadata, ...(metadata as object) } };
}

test("a pod that the watch shows with an earlier attempt, or with none, is older than the take", () => {
  const pods = new UnwatchedPods(new ManualTime());
  pods.add(attemptKey(requestOf(1)), takenBy(1));
  expect([takenBy(0), IDLE, takenBy(1)].map((pod) => pods.isOlder(pod))).toEqual([true, true, false]);
  const other = { ...IDLE, metadata: { ...IDLE.metadata, name: "warm-1" } };
  expect(pods.isOlder(other)).toBe(false);
  pods.delete(attemptKey(requestOf(1)));
  expect(pods.isOlder(takenBy(0))).toBe(false);
});

test("a pod is recent for 5 s, and known until the watch shows it", async () => {
  const clock = new ManualTime();
  const pods = new UnwatchedPods(clock);
  const attempt = attemptKey(requestOf(1));
  pods.add(attempt, takenBy(1));
  await clock.advance(4_999);
  expect(pods.recent(attempt)?.metadata.name).toBe("warm-0");
  await clock.advance(1);
  expect([pods.recent(attempt), pods.has(attempt)]).toEqual([undefined, true]);
  expect(pods.entries().map(([key]) => key)).toEqual([attempt]);
});
