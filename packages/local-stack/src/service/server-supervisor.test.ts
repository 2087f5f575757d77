import type { LocalServer } from "@flyte-ts/local-servers";
import { expect, test } from "vitest";
import { ServerSupervisor } from "./server-supervisor.js";

/** A server whose given starts fail; `die` ends each one. */
function world(failingStarts: (start: number) => boolean, obstacle?: () => string | undefined) {
  const seen = { now: 0, notices: [] as string[], starts: 0, stopped: 0, pauses: [] as number[], failed: Promise.withResolvers<string>() };
  let die: (how: string) => void = () => undefined;
  let started = Promise.withResolvers<void>();
  const begin = async (): Promise<LocalServer> => {
    if (failingStarts(++seen.starts)) throw new Error("its memory is still in use");
    const ended = new Promise<string>((resolve) => (die = resolve));
    started.resolve();
    started = Promise.withResolvers();
    return { url: "", port: 1, pid: 1, ended, stop: async () => void seen.stopped++, kill: async () => undefined };
  };
  const pause = async (ms: number) => {
    seen.pauses.push(ms);
    seen.now += ms;
  };
  const kept = new ServerSupervisor("it", begin, {
    now: () => seen.now,
    delay: pause,
    onRestart: (text: string) => void seen.notices.push(text),
    onFailed: seen.failed.resolve,
    ...(obstacle && { obstacle }),
  });
  const dies = async () => {
    const again = started.promise;
    die("killed");
    await again;
    await new Promise(setImmediate);
  };
  return { seen, kept, dies };
}

test("a server that fails to restart is retried with backoff", async () => {
  const { seen, kept, dies } = world((start) => start > 1 && start < 9);
  await kept.start();
  await dies();
  expect([seen.starts, seen.pauses]).toEqual([9, [100, 200, 400, 800, 1_600, 3_200, 5_000]]);
  // It runs for long: earlier failures are forgotten.
  seen.now += 60_000;
  await dies();
  expect(seen.pauses).toHaveLength(7);
  await kept.stop();
  expect(seen.stopped).toBe(1);
});

test("a forced restart reports its reason", async () => {
  const { seen, kept, dies } = world(() => false);
  await kept.start();
  await kept.forceRestart("it stores nothing");
  await dies();
  expect([seen.stopped, seen.starts]).toEqual([1, 2]);
  expect(seen.notices[0]).toContain("it is being restarted: it stores nothing");
  await kept.stop();
  await kept.forceRestart("again");
  expect([seen.stopped, seen.starts]).toEqual([2, 2]);
});

test("a server whose every restart fails is given up", async () => {
  const { seen, kept, dies } = world((start) => start > 3);
  await kept.start();
  await dies();
  await dies();
  void dies();
  expect(await seen.failed.promise).toBe("it reached its restart limit");
  expect([seen.starts, seen.now]).toEqual([13, 31_300]);
});

test("restarts of a server continue while the disk is full", async () => {
  let looks = 0;
  const full = () => (looks++ < 100 ? "the disk is full" : undefined);
  const { seen, kept, dies } = world((start) => start > 1 && start < 4, full);
  await kept.start();
  await dies();
  expect([seen.starts, seen.pauses.length]).toEqual([4, 102]);
  expect(seen.notices.filter((text) => text.includes("the disk is full"))).toEqual([
    "  it cannot start: the disk is full; it will be retried",
  ]);
  await kept.stop();
});
