import { expect, test } from "vitest";
import { createTtlValue } from "./ttl-value.js";

function recent(): {
  readonly of: ReturnType<typeof createTtlValue<number>>;
  readonly world: { now: number; value: number; away: boolean; reads: number };
} {
  const world = { now: 1_000_000, value: 1, away: false, reads: 0 };
  const read = async () => {
    world.reads++;
    const { value } = world;
    await Promise.resolve();
    if (world.away) throw new Error("away");
    return value;
  };
  const of = createTtlValue({ read, clock: () => new Date(world.now), ttlMs: 100, maxStaleMs: 10_000, retryMs: 50 });
  return { of, world };
}

test("an expired value is read again, once for all concurrent callers", async () => {
  const { of, world } = recent();
  expect(await Promise.all([of.current(), of.current()])).toEqual([1, 1]);
  world.value = 2;
  world.now += 99;
  expect([await of.current(), world.reads]).toEqual([1, 1]);
  world.now += 1;
  expect([await of.current(), world.reads]).toEqual([2, 2]);
});

test("a clock that is set back does not keep a value fresh", async () => {
  const { of, world } = recent();
  await of.current();
  world.value = 2;
  world.now -= 3_600_000;
  expect(await of.current()).toBe(2);
});

test("a value whose read was in progress during an invalidation is not cached", async () => {
  const { of, world } = recent();
  const before = of.current();
  world.value = 2;
  of.invalidate();
  expect([await before, await of.current()]).toEqual([1, 2]);
});

test("while reads fail, the last value is served for a limited time, and retries are spaced", async () => {
  const { of, world } = recent();
  await of.current();
  [world.away, world.value] = [true, 2];
  world.now += 200;
  expect([await of.current(), await of.current(), world.reads]).toEqual([1, 1, 2]);
  world.now += 50;
  expect([await of.current(), world.reads]).toEqual([1, 3]);
  world.now += 10_000;
  await expect(of.current()).rejects.toThrow("away");
  world.away = false;
  expect(await of.current()).toBe(2);
});
