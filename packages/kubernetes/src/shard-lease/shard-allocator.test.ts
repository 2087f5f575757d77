import { expect, test } from "vitest";
import { ShardAllocator, type LeaseAction } from "./shard-allocator.js";

const LEASE = 10_000;
const SHARDS = 8;

function book(member: string, facts: { members: readonly string[]; holders?: Record<number, string> }): ShardAllocator {
  const made = new ShardAllocator({ member, shards: SHARDS, leaseMs: LEASE });
  for (const other of facts.members) made.onMember(other, "1", 0);
  for (const [shard, holder] of Object.entries(facts.holders ?? {})) made.onShardLease(Number(shard), { member: holder, version: "1" });
  if (facts.members.includes(member)) made.onRenewed("1", 0);
  return made;
}

const kinds = (steps: readonly LeaseAction[]) => steps.map((step) => ("shard" in step ? `${step.kind} ${step.shard}` : step.kind));
const all = (holder: string) => Object.fromEntries(Array.from({ length: SHARDS }, (_, shard) => [shard, holder]));

test("a single member acquires all shards, and a new member joins first", () => {
  expect(kinds(book("a", { members: [] }).nextActions(1))).toEqual(["join"]);
  expect(kinds(book("a", { members: ["a"] }).nextActions(1))).toHaveLength(SHARDS);
});

test("a new member gets its fair share, which the others release", () => {
  const old = book("a", { members: ["a", "b"], holders: all("a") });
  expect(kinds(old.nextActions(1))).toEqual(["release 4", "release 5", "release 6", "release 7"]);
  const fresh = book("b", { members: ["a", "b"], holders: { ...all("a"), 4: "", 5: "", 6: "" } });
  expect(kinds(fresh.nextActions(1))).toEqual(["acquire 4", "acquire 5", "acquire 6"]);
});

test("a new member does not take the only shard from its holder", () => {
  const leader = new ShardAllocator({ member: "z", shards: 1, leaseMs: LEASE });
  leader.onMember("a", "1", 0);
  leader.onRenewed("1", 0);
  leader.onShardLease(0, { member: "z", version: "1" });
  expect(leader.nextActions(1)).toEqual([]);
});

test("fair shares differ by at most one and cover all shards", () => {
  for (const members of [["a"], ["a", "b", "c"], ["a", "b", "c", "d", "e"], "abcdefghijk".split("")]) {
    const parts = members.map((member) => book(member, { members }).nextActions(1).length);
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(SHARDS);
    expect(Math.max(...parts) - Math.min(...parts)).toBeLessThanOrEqual(1);
  }
});

test("a silent member loses its membership before its shards, and only after the lease time", () => {
  const b = book("b", { members: ["a", "b"], holders: all("a") });
  for (const at of [3_000, 6_000, 9_000]) b.onRenewed(String(at), at);
  expect(kinds(b.nextActions(10_000))).toEqual([]);
  b.onRenewed("10001", 10_001);
  expect(b.nextActions(10_002)).toEqual([{ kind: "expireMember", member: "a", version: "1" }]);
  b.onMemberGone("a");
  expect(kinds(b.nextActions(10_003))).toHaveLength(SHARDS);
});

test("a member without connection stops before others may take over, and spares others until it has seen renewals again", () => {
  const a = book("a", { members: ["a", "b"], holders: all("a") });
  expect(a.holds(3, 6_999)).toBe(true);
  expect(a.holds(3, 7_000)).toBe(false);
  expect(a.held(7_000)).toEqual([]);
  a.onRenewed("2", 60_000);
  expect(a.holds(3, 60_001)).toBe(true);
  expect(kinds(a.nextActions(63_900)).filter((kind) => kind === "expireMember")).toEqual([]);
  // The grace period has ended: the other member may have exited during it.
  a.onRenewed("3", 63_300);
  expect(kinds(a.nextActions(64_100)).filter((kind) => kind === "expireMember")).toEqual(["expireMember"]);
});

test("a released shard can be acquired again, whether the response or the watch event came first", () => {
  const first = book("a", { members: ["a"], holders: all("a") });
  first.onReleased(0, "7");
  expect(first.nextActions(1)).toEqual([{ kind: "acquire", shard: 0, version: "7" }]);
  const late = book("a", { members: ["a"], holders: all("a") });
  late.onShardLease(0, { member: "", version: "7" });
  late.onShardLease(0, { member: "b", version: "8" });
  late.onReleased(0, "7");
  expect(late.nextActions(1)).toEqual([{ kind: "acquire", shard: 0, version: "8" }]);
});
