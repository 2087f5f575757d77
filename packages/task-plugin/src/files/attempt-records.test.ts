import { expect, test } from "vitest";
import { MemoryStore } from "../harness/memory-store.js";
import { sampleRequest } from "../harness/sample-request.js";
import { AttemptRecords } from "./attempt-records.js";
import { decodeRecordedAttempt, encodeRecordedAttempt, type RecordedAttempt, recordedAttempt } from "./recorded-attempt.js";

interface Content {
  readonly attempt?: RecordedAttempt | undefined;
  readonly stopped: boolean;
}

const { owner, workflowKey } = sampleRequest("toy");
const requestAt = (outputPrefix: string) => sampleRequest("toy", { outputPrefix });
const attemptAt = (outputPrefix: string, uid = owner?.uid ?? "") => recordedAttempt(requestAt(outputPrefix), uid);
const recordsIn = (store: MemoryStore) =>
  new AttemptRecords<Content>(store, {
    fileName: "toy.json",
    maxBytes: 10_000,
    encode: ({ attempt, stopped }) => Buffer.from(JSON.stringify({ stopped, ...(attempt && encodeRecordedAttempt(attempt)) })),
    decode: (bytes) => {
      const { stopped, ...fields } = JSON.parse(Buffer.from(bytes).toString());
      return { stopped, attempt: decodeRecordedAttempt(fields) };
    },
    attempt: ({ attempt }) => attempt,
    mayRun: ({ stopped }) => !stopped,
  });

test("an attempt begins once", async () => {
  const store = new MemoryStore();
  const records = recordsIn(store);
  const request = requestAt("s3://b/0");
  const first = { attempt: attemptAt("s3://b/0"), stopped: false };
  expect(await records.read(request)).toBeUndefined();
  expect(await records.begin(request, first)).toBeUndefined();
  expect(await records.begin(request, { stopped: false })).toEqual(first);
  await records.write("s3://b/0", { ...first, stopped: true });
  expect((await records.begin(request, first))?.stopped).toBe(true);
  await records.delete("s3://b/0");
  expect(store.blobs.size).toBe(0);
});

test.each([
  ["a deleted execution of the same name", attemptAt("s3://b/0", "deleted")],
  ["another attempt", recordedAttempt(sampleRequest("toy", { outputPrefix: "s3://b/0", generatedName: "other" }), owner?.uid ?? "")],
])("the record of %s does not count, and gives way", async (_, attempt) => {
  const records = recordsIn(new MemoryStore());
  const request = requestAt("s3://b/0");
  await records.write("s3://b/0", { attempt, stopped: true });
  expect(await records.read(request)).toBeUndefined();
  const own = { attempt: attemptAt("s3://b/0"), stopped: false };
  expect(await records.begin(request, own)).toBeUndefined();
  expect(await records.read(request)).toEqual(own);
});

test("a record that names no attempt, as older builds wrote it, is that of the attempt of its folder", async () => {
  const records = recordsIn(new MemoryStore());
  await records.write("s3://b/0", { stopped: true });
  expect(await records.read(requestAt("s3://b/0"))).toEqual({ stopped: true });
  expect(await records.begin(requestAt("s3://b/0"), { stopped: false })).toEqual({ stopped: true });
});

test("attempts of a resource are listed until nothing of them runs", async () => {
  const records = recordsIn(new MemoryStore());
  const begin = (prefix: string, attempt = attemptAt(prefix)) => records.write(prefix, { attempt, stopped: false });
  await begin("s3://b/run/n0/0");
  await begin("s3://b/run/known/0");
  await begin("s3://b/run/stopped/0");
  await records.write("s3://b/run/stopped/0", { attempt: attemptAt("s3://b/run/stopped/0"), stopped: true });
  await begin("s3://b/run/earlier/0", attemptAt("s3://b/run/earlier/0", "deleted"));
  // Tasks can write below their own output prefixes.
  await begin("s3://b/run/forged/0", attemptAt("s3://b/run/other/0"));
  await begin("s3://b/run2/n0/0");
  const workflow = { workflowKey, owner, outputPrefix: "s3://b/run" };
  const listed = await records.listRunning(workflow, new Set(["s3://b/run/known/0"]));
  expect(listed).toEqual([{ ...attemptAt("s3://b/run/n0/0").request, owner }]);
  expect(await records.listRunning({ workflowKey, owner }, new Set())).toEqual([]);
});
