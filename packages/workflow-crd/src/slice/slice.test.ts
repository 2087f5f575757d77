import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { StatusTooNewError } from "../parse/status-version.js";
import { Field, WorkflowFormatError } from "../parse/field.js";
import { assembleSlices } from "./assemble.js";
import { decodeSlice, encodeSlice, type SliceEntry } from "./codec.js";
import { sliceReferences } from "./references.js";

const id = fc.oneof(fc.stringMatching(/^[a-z0-9]{1,4}$/), fc.constantFrom("__proto__", "constructor", "a/b", "0", ""));
const path = fc.array(id, { minLength: 1, maxLength: 3 });
const status = fc.record(
  { phase: fc.nat(12), attempts: fc.nat(3), message: fc.string({ unit: "binary" }), TaskNodeStatus: fc.record({ phase: fc.nat(7) }) },
  { requiredKeys: ["phase"] },
);
const entries: fc.Arbitrary<SliceEntry[]> = fc.array(fc.record({ path, status }), { maxLength: 20 });

test("decodeSlice reverses encodeSlice", () => {
  fc.assert(
    fc.property(entries, (given) => {
      expect(decodeSlice(encodeSlice(given), "slice")).toEqual(given);
    }),
  );
});

test("any bytes are decoded or rejected with the key of the slice", () => {
  const refusal = (bytes: Uint8Array): unknown => {
    try {
      return decodeSlice(bytes, "3") && undefined;
    } catch (error) {
      return error instanceof WorkflowFormatError && error.message.startsWith("status.slices.names.3") ? undefined : error;
    }
  };
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(refusal(bytes)).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      expect(refusal(gzipSync(JSON.stringify(json)))).toBeUndefined();
      expect(refusal(gzipSync(JSON.stringify({ version: 1, nodes: json })))).toBeUndefined();
    }),
  );
});

test("a truncated slice is rejected", () => {
  const bytes = encodeSlice([{ path: ["n0"], status: { phase: 5 } }]);
  expect(() => decodeSlice(bytes.subarray(0, -9), "s")).toThrow(WorkflowFormatError);
  expect(() => decodeSlice(gzipSync('{"version":0,"nodes":[]}'), "s")).toThrow("status.slices.names.s.version: must be 1, is 0");
});

test.each([
  ["more bytes than are unpacked", gzipSync(Buffer.alloc(33 << 20, " ")), /more than 33554432 bytes/],
  ["more elements than are parsed", gzipSync(`{"version":1,"nodes":[${"[],".repeat(1_000_000)}[]]}`), /more than 1000000 elements/],
  ["more levels than are parsed", gzipSync(`{"version":1,"nodes":${"[".repeat(300)}${"]".repeat(300)}}`), /more than 200 levels deep/],
])("a slice of %s is refused", (_, bytes, problem) => {
  expect(() => decodeSlice(bytes, "s")).toThrow(WorkflowFormatError);
  expect(() => decodeSlice(bytes, "s")).toThrow(problem);
});

test("nodes are assembled below their parents, for any distribution over slices", () => {
  const loaded = (key: string, of: readonly SliceEntry[]) => ({ key, name: `${key}.1`, entries: of });
  const slices = [
    loaded("0", [
      { path: ["n0", "a"], status: { phase: 5 } },
      { path: ["n1"], status: { phase: 1 } },
    ]),
    loaded("1", [
      { path: ["n0", "b", "c"], status: { phase: 6 } },
      { path: ["n0", "b"], status: { phase: 2 } },
      { path: ["n0"], status: { phase: 2, attempts: 1 } },
      { path: ["gone", "x"], status: { phase: 2 } },
    ]),
  ];
  expect(assembleSlices(slices)).toEqual({
    n0: { phase: 2, attempts: 1, subNodeStatus: { a: { phase: 5 }, b: { phase: 2, subNodeStatus: { c: { phase: 6 } } } } },
    n1: { phase: 1 },
  });
});

test("the status lists its slices", () => {
  const root = { version: 1, prefix: "s3://b/e/status", generation: 3, names: { 0: "0.3.x", 2: "2.1.y" } };
  expect(sliceReferences(new Field({ phase: 1, slices: root }, "status"))).toEqual([
    { key: "0", name: "0.3.x", uri: "s3://b/e/status/0.3.x" },
    { key: "2", name: "2.1.y", uri: "s3://b/e/status/2.1.y" },
  ]);
  expect(sliceReferences(new Field({ phase: 1 }, "status"))).toEqual([]);
  expect(() => sliceReferences(new Field({ slices: { ...root, version: "1" } }, "status"))).toThrow('slices.version: must be 1, is "1"');
});

test("a slice of a newer build is distinguished from a malformed one", () => {
  const root = { version: 2, prefix: "s3://b/e/status", generation: 3, names: {} };
  expect(() => decodeSlice(gzipSync('{"version":2,"nodes":"of another form"}'), "s")).toThrow(StatusTooNewError);
  expect(() => sliceReferences(new Field({ slices: root }, "status"))).toThrow(StatusTooNewError);
});

test.each(["..", ".", "", "../../other-execution/slices/0.1", "a/b", "0.1?x", "%2e%2e", "0.1\n"])(
  "a slice named %j is refused, because propeller reads and deletes slices by name",
  (name) => {
    const status = new Field({ slices: { version: 1, prefix: "s3://b/p-d-e", generation: 1, names: { 0: name } } }, "status");
    expect(() => sliceReferences(status)).toThrow(/names\.0: must be a blob name without directories/);
  },
);
