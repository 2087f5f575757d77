import { expect, test } from "vitest";
import { MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { decodeRecord, decodeState, encodeRecord, encodeState } from "./created-task.js";
import { beginCreation, readRecord, readRecordsBelow, recordCreated, recordStopped } from "./creation-record.js";
import { type RecordedAttempt, recordedAttempt } from "./recorded-attempt.js";

const attempt = recordedAttempt(sampleRequest("toy"), "uid");
const task = (bytes: number) => ({ endpoint: "toys", taskType: "toy", version: 2, resourceMeta: Buffer.alloc(bytes, 7) });

test("plugin state leaves the id of a task to the record; that of older builds has it", () => {
  const state = encodeState(task(10));
  expect(Buffer.from(state).toString()).toBe('{"v":1,"endpoint":"toys","taskType":"toy","taskVersion":2}');
  expect(decodeState(state)).toBe("inRecord");
  expect(decodeState(encodeRecord(task(10)))).toEqual(task(10));
});

test.each([new Uint8Array(), new Uint8Array([1]), Buffer.from("{}"), Buffer.from('{"v":2}')])("other bytes are no state", (bytes) => {
  expect(decodeState(bytes)).toBeUndefined();
});

test("a creation begins once", async () => {
  const store = new MemoryStore();
  expect(await readRecord(store, "s3://b/0")).toBeUndefined();
  expect(await beginCreation(store, "s3://b/0", attempt)).toBeUndefined();
  expect(await beginCreation(store, "s3://b/0", attempt)).toBe("begun");
  await recordCreated(store, "s3://b/0", { task: task(100_000), attempt });
  expect(await beginCreation(store, "s3://b/0", attempt)).toEqual(task(100_000));
  expect(await readRecord(store, "s3://b/0")).toEqual(task(100_000));
});

test("a record names its attempt until nothing of it runs", async () => {
  const store = new MemoryStore();
  await beginCreation(store, "s3://b/run/n0/0", attempt);
  await recordCreated(store, "s3://b/run/n1/0", { task: task(1), attempt });
  await beginCreation(store, "s3://b/run/n2/0", attempt);
  await recordStopped(store, "s3://b/run/n2/0");
  await beginCreation(store, "s3://b/run2/n0/0", attempt);
  const found: RecordedAttempt[] = [];
  for await (const recorded of readRecordsBelow(store, "s3://b/run", (prefix) => prefix === "s3://b/run/n0/0")) found.push(recorded);
  expect(found).toEqual([attempt]);
  expect(await readRecord(store, "s3://b/run/n2/0")).toBe("stopped");
});

test.each(['{"v":1,"begun":true}', "{}", "damaged", '{"v":1,"begun":true,"ownerUid":"a","attempt":"AAAA"}'])(
  "a record of an older build, or a damaged one, names no attempt: %s",
  (text) => {
    expect(decodeRecord(Buffer.from(text))).toEqual({ task: "begun", attempt: undefined });
  },
);

test("a record of an older build still has its task", () => {
  expect(decodeRecord(encodeRecord(task(3)))).toEqual({ task: task(3), attempt: undefined });
});
