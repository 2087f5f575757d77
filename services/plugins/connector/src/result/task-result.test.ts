import { create, toBinary } from "@bufbuild/protobuf";
import { integerLiteral } from "../literals.fixture.js";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind as Origin } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { beforeEach, expect, test } from "vitest";
import { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { taskResult } from "./task-result.js";

const limits = { inlineBytes: 100, maxOutputBytes: 1_000 };
const source = { outputPrefix: "s3://b/0", declaresOutputs: true };
const outputs = create(LiteralMapSchema, { literals: { o0: integerLiteral(1) } });
const manyOutputs = (count: number) =>
  create(LiteralMapSchema, { literals: Object.fromEntries(Array.from({ length: count }, (_, i) => [`output${i}`, integerLiteral(i)])) });
let store: MemoryStore;
beforeEach(() => {
  store = new MemoryStore();
});

test("small outputs are passed by value", async () => {
  expect(await taskResult({ outputs }, source, { store, limits })).toEqual({ outputs });
  expect(store.blobs.size).toBe(0);
});

test("large outputs go to outputs.pb, and too large ones fail", async () => {
  const large = manyOutputs(10);
  expect(await taskResult({ outputs: large }, source, { store, limits })).toEqual({});
  expect(store.blobs.get("s3://b/0/outputs.pb")).toEqual(toBinary(LiteralMapSchema, large));
  const { failure } = await taskResult({ outputs: manyOutputs(100) }, source, { store, limits });
  expect(failure).toMatchObject({ recoverable: false, details: { code: "OutputSizeExceeded" } });
});

test("a task without outputs has no result", async () => {
  expect(await taskResult({ outputs }, { ...source, declaresOutputs: false }, { store, limits })).toEqual({});
  expect(await taskResult({}, { ...source, declaresOutputs: false }, { store, limits })).toEqual({});
});

test("without a value the job's files count", async () => {
  expect((await taskResult({}, source, { store, limits })).failure).toMatchObject({
    recoverable: true,
    details: { code: "OutputsNotFound" },
  });
  await store.put("s3://b/0/outputs.pb", toBinary(LiteralMapSchema, outputs));
  expect(await taskResult({}, source, { store, limits })).toEqual({ outputs });
  await store.put("s3://b/0/outputs.pb", toBinary(LiteralMapSchema, manyOutputs(10)));
  expect(await taskResult({}, source, { store, limits })).toEqual({});
  const error = { code: "C", message: "m", kind: ContainerError_Kind.RECOVERABLE, origin: Origin.SYSTEM };
  await store.put("s3://b/0/error.pb", toBinary(ErrorDocumentSchema, create(ErrorDocumentSchema, { error })));
  expect((await taskResult({}, source, { store, limits })).failure).toMatchObject({
    recoverable: true,
    details: { code: "C", kind: "SYSTEM" },
  });
});

test.each([
  ["error.pb", "ErrorFileBadFormat"],
  ["outputs.pb", "OutputsBadFormat"],
])("an unreadable %s is a failure", async (file, code) => {
  await store.put(`s3://b/0/${file}`, new Uint8Array([0xff, 0xff]));
  expect((await taskResult({}, source, { store, limits })).failure?.details.code).toBe(code);
});
