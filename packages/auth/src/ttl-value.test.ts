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

test("it is read again when it is old, once for all that ask at once", async () => {
  const { of, world } = recent();
  expect(await Promise.all([of.current(), of.current()])).toEqual([1, 1]);
  world.value = 2;
  world.now += 99;
  expect([await of.current(), world.reads]).toEqual([1, 1]);
  world.now += 1;
  expect([await of.current(), world.reads]).toEqual([2, 2]);
});

test("a clock that is set back makes nothing stay new", async () => {
  const { of, world } = recent();
  await of.current();
  world.value = 2;
  world.now -= 3_600_000;
  expect(await of.current()).toBe(2);
});

test("what was being read while it changed does not count", async () => {
  const { of, world } = recent();
  const before = of.current();
  world.value = 2;
  of.invalidate();
  expect([await before, await of.current()]).toEqual([1, 2]);
});

test("while it cannot be read what was known counts, for a time, and it is not asked for by everyone", async () => {
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
