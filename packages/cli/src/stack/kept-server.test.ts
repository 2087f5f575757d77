import type { LocalServer } from "@flyte-ts/local-servers";
import { expect, test } from "vitest";
import { KeptServer } from "./kept-server.js";

/** A server whose starts fail so often; each is ended by `die`. */
function world(failingStarts: (start: number) => boolean) {
  const seen = { now: 0, starts: 0, stopped: 0, pauses: [] as number[], failed: Promise.withResolvers<string>() };
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
  const kept = new KeptServer("it", begin, { now: () => seen.now, pause, onRestart: () => undefined, onFailed: seen.failed.resolve });
  const dies = async () => {
    const again = started.promise;
    die("killed");
    await again;
    await new Promise(setImmediate);
  };
  return { seen, kept, dies };
}

test("one that cannot be started again at once is tried after pauses that grow", async () => {
  const { seen, kept, dies } = world((start) => start > 1 && start < 9);
  await kept.start();
  await dies();
  expect([seen.starts, seen.pauses]).toEqual([9, [100, 200, 400, 800, 1_600, 3_200, 5_000]]);
  // It lives for long: what was is forgotten.
  seen.now += 60_000;
  await dies();
  expect(seen.pauses).toHaveLength(7);
  await kept.stop();
  expect(seen.stopped).toBe(1);
});

test("one that dies of every start is given up", async () => {
  const { seen, kept, dies } = world((start) => start > 3);
  await kept.start();
  await dies();
  await dies();
  void dies();
  expect(await seen.failed.promise).toBe("it could not be kept running");
  expect([seen.starts, seen.now]).toEqual([13, 31_300]);
});
