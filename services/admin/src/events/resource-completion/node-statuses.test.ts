import { encodeSlice } from "@flyte-ts/workflow-crd/status";
import { expect, test } from "vitest";
import { nodeStatusesOf } from "./node-statuses.js";

test("statuses in slices are read from the blob store", async () => {
  const slice = encodeSlice([
    { path: ["n0"], status: { phase: 5, attempts: 1 } },
    { path: ["n0", "a"], status: { phase: 6 } },
  ]);
  const blobs = { get: async (uri: string) => (uri === "s3://b/slices/0.1" ? slice : undefined) };
  const slices = { version: 1 as const, prefix: "s3://b/slices", generation: 1, names: { "0": "0.1" } };
  expect(await nodeStatusesOf(blobs, { phase: 3, slices })).toEqual({ n0: { phase: 5, attempts: 1, subNodeStatus: { a: { phase: 6 } } } });
  await expect(nodeStatusesOf(blobs, { phase: 3, slices: { ...slices, names: { "0": "0.2" } } })).rejects.toThrow("does not exist");
});
