import { applyMergePatch } from "@flyte-ts/workflow-crd";
import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeDiff } from "./patch.js";

const status = fc.dictionary(
  fc.constantFrom("phase", "message", "error", "TaskNodeStatus"),
  fc.oneof(fc.nat(3), fc.string({ maxLength: 2 }), fc.dictionary(fc.constantFrom("a", "b"), fc.oneof(fc.nat(2), fc.constant(undefined)))),
);

it("turns any status into any other, and is empty when they are equal", () => {
  fc.assert(
    fc.property(status, status, (before, after) => {
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Parameters<typeof applyMergePatch>[0];
      const patch = mergeDiff(before, after);
      expect(applyMergePatch(plain(before), plain(patch ?? {}))).toEqual(plain(after));
      expect(mergeDiff(before, before)).toBeUndefined();
    }),
    { numRuns: 2_000 },
  );
});
