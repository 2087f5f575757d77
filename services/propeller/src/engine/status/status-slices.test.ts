import { applyMergePatch } from "@flyte-ts/workflow-crd";
import {
  assembleSlices,
  decodeSlice,
  encodeSlice,
  type LoadedSlice,
  type NodeStatus,
  sliceUri,
  type WorkflowStatus,
} from "@flyte-ts/workflow-crd/status";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import type { NodeSpec } from "../../../simulation/fixtures/workflow.js";
import { jsonSize } from "./json-size.js";
import { StatusSlices } from "./status-slices.js";

type Change =
  | { readonly kind: "set"; readonly path: readonly string[]; readonly phase: number }
  | { readonly kind: "remove" | "removeBelow"; readonly path: readonly string[] }
  | { readonly kind: "take" | "reload" };

const id = fc.constantFrom("a", "b", "c", "__proto__", "x/y");
const path = fc.array(id, { minLength: 1, maxLength: 3 });
const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("set" as const), path, phase: fc.nat(6) }) },
  fc.record({ kind: fc.constantFrom("remove" as const, "removeBelow" as const), path }),
  fc.record({ kind: fc.constantFrom("take" as const, "take" as const, "reload" as const) }),
);

/** Stored state: the resource's status and the blobs. */
class Stored {
  status: Partial<WorkflowStatus> = {};
  readonly blobs = new Map<string, Uint8Array>();
  readonly given = new Set<string>();

  get loaded(): LoadedSlice[] {
    const { prefix = "", names = {} } = this.status.slices ?? {};
    return Object.entries(names).map(([key, name]) => ({
      key,
      name,
      entries: decodeSlice(this.blobs.get(sliceUri(prefix, name)) ?? new Uint8Array(), key),
    }));
  }
}

const input = { prefix: "s3://b/e/status", limits: { nodes: 2, bytes: 1_000 }, nonce: "n" };

function expectWritten(stored: Stored, slices: StatusSlices): void {
  const changes = slices.collectChanges();
  if (changes === undefined) return;
  for (const { uri, entries } of changes.blobs) {
    expect(stored.given.has(uri), "a name that was given before").toBe(false);
    expect(entries.length).toBeGreaterThan(0);
    expect(entries.length).toBeLessThanOrEqual(2);
    stored.given.add(uri);
    stored.blobs.set(uri, encodeSlice(entries));
  }
  stored.status = applyMergePatch(stored.status as never, changes.patch as never) as never;
  for (const uri of changes.obsoleteSlices) stored.blobs.delete(uri);
  expect([...stored.blobs.keys()].sort(), "blobs are those that the root names").toEqual([...slices.uris()].sort());
}

function expectStored(stored: Stored, wanted: ReadonlyMap<string, NodeStatus>): void {
  const entries = stored.loaded.flatMap((slice) => slice.entries);
  expect(new Map(entries.map((entry) => [JSON.stringify(entry.path), entry.status]))).toEqual(wanted);
  const counted = Object.values(stored.status.nodeCounts ?? {}).reduce((sum, count) => sum + count, 0);
  expect(counted).toBe(wanted.size);
}

/**
 * Returns the slices after their changes are written; with a nonce, as the next process restores
 * them.
 */
function again(slices: StatusSlices, stored: Stored, nonce: string | undefined): StatusSlices {
  expectWritten(stored, slices);
  const { slices: root, nodeCounts = {} } = stored.status;
  if (nonce === undefined || root === undefined) return slices;
  const restored = StatusSlices.restore({ ...input, nonce }, { root, counts: nodeCounts, loaded: stored.loaded });
  expect(restored.collectChanges()).toBeUndefined();
  return restored;
}

describe("slices", () => {
  it("hold the status that was set, for any changes and any number of processes", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const stored = new Stored();
        let slices = StatusSlices.empty(input);
        let process = 0;
        const wanted = new Map<string, NodeStatus>();
        const below = (of: readonly string[], own: boolean): void => {
          for (const key of wanted.keys()) {
            const at = JSON.parse(key) as string[];
            if (of.every((each, index) => at[index] === each) && (own || at.length > of.length)) wanted.delete(key);
          }
        };
        for (const each of [...changes, { kind: "reload" } as const]) {
          switch (each.kind) {
            case "set":
              slices.set(each.path, { phase: each.phase, subNodeStatus: {} });
              wanted.set(JSON.stringify(each.path), { phase: each.phase });
              break;
            case "remove":
            case "removeBelow":
              slices[each.kind](each.path);
              below(each.path, each.kind === "remove");
              break;
            default:
              slices = again(slices, stored, each.kind === "reload" ? `p${process++}` : undefined);
              expectStored(stored, wanted);
          }
        }
        expect(slices.uris()).toHaveLength(stored.blobs.size);
      }),
      { numRuns: 2_000 },
    );
  });

  it("cost a change the size of one slice", () => {
    const slices = StatusSlices.empty({ ...input, limits: { nodes: 100, bytes: 100_000 } });
    for (let index = 0; index < 10_000; index++) slices.set([`n${index}`], { phase: 1 });
    expect(slices.collectChanges()?.blobs).toHaveLength(100);
    slices.set(["n4321"], { phase: 2 });
    const changes = slices.collectChanges();
    expect(changes?.blobs.map(({ entries }) => entries.length)).toEqual([100]);
    expect(changes?.obsoleteSlices).toHaveLength(1);
    expect(changes?.patch).toEqual({
      slices: { generation: 2, names: { 43: "43.2.n" } },
      nodeCounts: { Queued: 9_999, Running: 1 },
    });
  });

  it("are filled with new nodes when earlier nodes are removed", () => {
    const slices = StatusSlices.empty({ ...input, limits: { nodes: 10, bytes: 100_000 } });
    for (let round = 0; round < 100; round++) {
      for (let index = 0; index < 50; index++) slices.set(["sub", `n${round}-${index}`], { phase: 1 });
      slices.collectChanges();
      slices.removeBelow(["sub"]);
      slices.set([`n${round}`], { phase: 5 });
    }
    slices.collectChanges();
    expect(slices.uris().length).toBeLessThanOrEqual(20);
  });

  it("are measured approximately as their JSON", () => {
    const value = { phase: 5, message: "text", error: { code: "c", message: "m" }, flags: [true, false] };
    expect(jsonSize(value)).toBeGreaterThan(JSON.stringify(value).length * 0.8);
    expect(jsonSize(value)).toBeLessThan(JSON.stringify(value).length * 1.6);
  });
});

describe("a workflow with a growing status", () => {
  const wide = (size: number, kind: NodeSpec) => ({
    main: { nodes: Object.fromEntries(Array.from({ length: size }, (_, index) => [`n${index}`, kind])) },
  });
  const config = { maxInlineStatusBytes: 3_500, sliceLimits: { nodes: 10, bytes: 100_000 } };

  it("keeps the status in the resource, then in slices, and in the resource again when it has ended and is small", () => {
    const d = Driver.of(wide(40, { kind: "task" }), config);
    expect(Object.keys(d.resource).sort()).toEqual(["metadata", "status"]);
    expect(d.resource.status.nodeStatus).toBeUndefined();
    expect(d.resource.status.slices?.names).toBeDefined();
    expect(d.resource.status.nodeCounts).toEqual({ Queued: 40, Succeeded: 1 });
    expect(Object.keys(d.storedStatus.nodeStatus ?? {})).toHaveLength(41);
    const before = d.slicesWritten;
    d.reply("n7", "RUNNING");
    expect(d.slicesWritten - before).toBe(1);
    for (let index = 0; index < 40; index++) d.reply(`n${index}`, "SUCCEEDED");
    expect(d.resource.status.phase).toBe(3);
    d.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(d.finished).toBe(true);
    expect(d.resource.status).not.toHaveProperty("slices");
    expect(d.resource.status).not.toHaveProperty("nodeCounts");
    expect(Object.keys(d.resource.status.nodeStatus ?? {})).toHaveLength(42);
    expect(d.blobs.size).toBe(0);
  });

  it("leaves the status in slices when it has ended and is large", () => {
    const d = Driver.of(wide(40, { kind: "task" }), { ...config, maxInlineStatusBytes: 500 });
    for (let index = 0; index < 40; index++) d.reply(`n${index}`, "SUCCEEDED");
    d.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(d.resource.status.nodeCounts).toEqual({ Succeeded: 42 });
    expect(d.blobs.size).toBe(Object.keys(d.resource.status.slices?.names ?? {}).length);
  });

  it("continues from its slices in the next process, and drops ended graphs once the end is recorded", () => {
    const graphs = { inner: wide(40, { kind: "task" }).main };
    const d = Driver.of({ main: { nodes: { sub: { kind: "sub", graph: "inner" } } }, graphs }, config);
    d.reply("sub/n3", "SUCCEEDED");
    const next = d.restart(config);
    expect(next.run.status).toEqual(d.storedStatus);
    next.observe({ kind: "load" });
    for (let index = 0; index < 40; index++) if (index !== 3) next.reply(`sub/n${index}`, "SUCCEEDED");
    expect(next.resource.status.phase).toBe(3);
    expect(next.resource.status.nodeCounts).toEqual({ Succeeded: 45 });
    expect(Object.keys(next.storedStatus.nodeStatus?.["sub"]?.subNodeStatus ?? {})).toHaveLength(42);
    next.observe({ kind: "endRecorded", phase: "SUCCEEDED" });
    expect(next.storedStatus.nodeStatus?.["sub"]).toEqual({ phase: 5, stoppedAt: expect.any(String) as string });
  });

  it("moves the oversized status of another engine's resource into slices with its first change", () => {
    const d = Driver.of(wide(40, { kind: "task" }), { maxInlineStatusBytes: 1_000_000 });
    expect(d.resource.status.slices).toBeUndefined();
    const next = d.restart(config);
    next.observe({ kind: "load" });
    next.reply("n0", "RUNNING");
    expect(next.resource.status.nodeStatus).toBeUndefined();
    expect(assembleSlices([])).toEqual({});
    expect(next.storedStatus).toEqual(JSON.parse(JSON.stringify(next.run.status)));
  });
});
