import { expect, test } from "vitest";
import { MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { decodeRecord, decodeState, encodeRecord, encodeState } from "./created-task.js";
import { creationRecords } from "./creation-record.js";
import { recordedAttempt } from "@flyte-ts/task-plugin/files";

const request = sampleRequest("toy");
const attempt = recordedAttempt(request, request.owner?.uid ?? "");
const task = (bytes: number) => ({ endpoint: "toys", taskType: "toy", version: 2, resourceMeta: Buffer.alloc(bytes, 7) });

test("plugin state leaves the id of a task to the record; that of older builds has it", () => {
  const state = encodeState(task(10));
  expect(Buffer.from(state).toString()).toBe('{"v":1,"endpoint":"toys","taskType":"toy","taskVersion":2}');
  expect(decodeState(state)).toBe("inRecord");
  expect(decodeState(encodeRecord({ task: task(10) }))).toEqual(task(10));
});

test.each([new Uint8Array(), new Uint8Array([1]), Buffer.from("{}"), Buffer.from('{"v":2}')])("other bytes are no state", (bytes) => {
  expect(decodeState(bytes)).toBeUndefined();
});

test("a creation begins once, and its record has the task", async () => {
  const records = creationRecords(new MemoryStore());
  expect(await records.begin(request, { task: "begun", attempt })).toBeUndefined();
  await records.write(request.outputPrefix, { task: task(100_000), attempt });
  expect((await records.begin(request, { task: "begun", attempt }))?.task).toEqual(task(100_000));
});

test("a record of a task that its attempt left behind is read again", () => {
  expect(decodeRecord(encodeRecord({ task: task(3), attempt, isLost: true }))).toMatchObject({ task: task(3), isLost: true });
  expect(decodeRecord(encodeRecord({ task: task(3), attempt }))).not.toHaveProperty("isLost");
});

test.each(["begun", "stopped", "ended"] as const)("a record of a task that is %s is read again", (state) => {
  expect(decodeRecord(encodeRecord({ task: state, attempt }))).toMatchObject({ task: state });
});

test.each(['{"v":1,"begun":true}', "{}", "damaged", '{"v":1,"begun":true,"ownerUid":"a","attempt":"AAAA"}'])(
  "a record of an older build, or a damaged one, names no attempt: %s",
  (text) => {
    expect(decodeRecord(Buffer.from(text))).toEqual({ task: "begun", attempt: undefined });
  },
);

test("a record of an older build still has its task", () => {
  expect(decodeRecord(encodeRecord({ task: task(3) }))).toEqual({ task: task(3), attempt: undefined });
});
