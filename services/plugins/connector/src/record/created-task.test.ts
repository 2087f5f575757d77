import { expect, test } from "vitest";
import { MemoryStore } from "../memory-store.fixture.js";
import { decodeState, encodeState } from "./created-task.js";
import { beginCreation, readRecord, recordCreated } from "./creation-record.js";

const task = (bytes: number) => ({ endpoint: "toys", taskType: "toy", version: 2, resourceMeta: Buffer.alloc(bytes, 7) });

test("plugin state holds a small task, and leaves a large one to the record", () => {
  expect(decodeState(encodeState(task(2_000)))).toEqual(task(2_000));
  const large = encodeState(task(1_000_000));
  expect(large.length).toBeLessThan(4_096);
  expect(decodeState(large)).toBe("inRecord");
  expect(encodeState(task(3_200)).length).toBeLessThanOrEqual(4_096);
});

test.each([new Uint8Array(), new Uint8Array([1]), Buffer.from("{}"), Buffer.from('{"v":2}')])("other bytes are no state", (bytes) => {
  expect(decodeState(bytes)).toBeUndefined();
});

test("a creation begins once", async () => {
  const store = new MemoryStore();
  expect(await readRecord(store, "s3://b/0")).toBeUndefined();
  expect(await beginCreation(store, "s3://b/0")).toBeUndefined();
  expect(await beginCreation(store, "s3://b/0")).toBe("begun");
  await recordCreated(store, "s3://b/0", task(100_000));
  expect(await beginCreation(store, "s3://b/0")).toEqual(task(100_000));
  expect(await readRecord(store, "s3://b/0")).toEqual(task(100_000));
});
