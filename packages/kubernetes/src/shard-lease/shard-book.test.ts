import { expect, test } from "vitest";
import { ShardBook, type ShardStep } from "./shard-book.js";

const LEASE = 10_000;
const SHARDS = 8;

function book(member: string, facts: { members: readonly string[]; holders?: Record<number, string> }): ShardBook {
  const made = new ShardBook({ member, shards: SHARDS, leaseMs: LEASE });
  for (const other of facts.members) made.memberSeen(other, "1", 0);
  for (const [shard, holder] of Object.entries(facts.holders ?? {})) made.shardSeen(Number(shard), { member: holder, version: "1" });
  if (facts.members.includes(member)) made.renewed("1", 0);
  return made;
}

const kinds = (steps: readonly ShardStep[]) => steps.map((step) => ("shard" in step ? `${step.kind} ${step.shard}` : step.kind));
const all = (holder: string) => Object.fromEntries(Array.from({ length: SHARDS }, (_, shard) => [shard, holder]));

test("who is alone takes everything, who is new joins first", () => {
  expect(kinds(book("a", { members: [] }).steps(1))).toEqual(["join"]);
  expect(kinds(book("a", { members: ["a"] }).steps(1))).toHaveLength(SHARDS);
});

test("a newcomer gets its part: the others give up what is beyond theirs, and it takes no more", () => {
  const old = book("a", { members: ["a", "b"], holders: all("a") });
  expect(kinds(old.steps(1))).toEqual(["giveUp 4", "giveUp 5", "giveUp 6", "giveUp 7"]);
  const fresh = book("b", { members: ["a", "b"], holders: { ...all("a"), 4: "", 5: "", 6: "" } });
  expect(kinds(fresh.steps(1))).toEqual(["take 4", "take 5", "take 6"]);
});

test("who comes anew does not take the only shard from its holder", () => {
  const leader = new ShardBook({ member: "z", shards: 1, leaseMs: LEASE });
  leader.memberSeen("a", "1", 0);
  leader.renewed("1", 0);
  leader.shardSeen(0, { member: "z", version: "1" });
  expect(leader.steps(1)).toEqual([]);
});

test("parts differ by one at most and leave nothing over", () => {
  for (const members of [["a"], ["a", "b", "c"], ["a", "b", "c", "d", "e"], "abcdefghijk".split("")]) {
    const parts = members.map((member) => book(member, { members }).steps(1).length);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(SHARDS);
    expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
  }
});

test("the silent lose their membership before their shards, and only after a whole lease time", () => {
  const b = book("b", { members: ["a", "b"], holders: all("a") });
  for (const at of [3_000, 6_000, 9_000]) b.renewed(String(at), at);
  expect(kinds(b.steps(10_000))).toEqual([]);
  b.renewed("10001", 10_001);
  expect(b.steps(10_002)).toEqual([{ kind: "expire", member: "a", version: "1" }]);
  b.memberGone("a");
  expect(kinds(b.steps(10_003))).toHaveLength(SHARDS);
});

test("who was cut off stops by itself before others may take over, and judges nobody before it has listened again", () => {
  const a = book("a", { members: ["a", "b"], holders: all("a") });
  expect(a.holds(3, 6_999)).toBe(true);
  expect(a.holds(3, 7_000)).toBe(false);
  expect(a.held(7_000)).toEqual([]);
  a.renewed("2", 60_000);
  expect(a.holds(3, 60_001)).toBe(true);
  expect(kinds(a.steps(63_900)).filter((kind) => kind === "expire")).toEqual([]);
  // But no longer: it may have died meanwhile.
  a.renewed("3", 63_300);
  expect(kinds(a.steps(64_100)).filter((kind) => kind === "expire")).toEqual(["expire"]);
});

test("a shard that was given up can be taken again, whichever came first, the answer or the watch", () => {
  const first = book("a", { members: ["a"], holders: all("a") });
  first.gaveUp(0, "7");
  expect(first.steps(1)).toEqual([{ kind: "take", shard: 0, version: "7" }]);
  const late = book("a", { members: ["a"], holders: all("a") });
  late.shardSeen(0, { member: "", version: "7" });
  late.shardSeen(0, { member: "b", version: "8" });
  late.gaveUp(0, "7");
  expect(late.steps(1)).toEqual([{ kind: "take", shard: 0, version: "8" }]);
});
