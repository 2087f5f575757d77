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
const attemptAt = (outputPrefix: string, uid = owner?.uid ?? "") => recordedAttempt(sampleRequest("toy", { outputPrefix }), uid);
const recordsIn = (store: MemoryStore) =>
  new AttemptRecords<Content>(store, {
    fileName: "toy.json",
    maxBytes: 10_000,
    encode: ({ attempt, stopped }) => Buffer.from(JSON.stringify({ stopped, ...(attempt && encodeRecordedAttempt(attempt)) })),
    decode: (bytes) => {
      const { stopped, ...fields } = JSON.parse(Buffer.from(bytes).toString());
      return { stopped, attempt: decodeRecordedAttempt(fields) };
    },
    runningAttempt: ({ stopped, attempt }) => (stopped ? undefined : attempt),
  });

test("an attempt begins once", async () => {
  const store = new MemoryStore();
  const records = recordsIn(store);
  const first = { attempt: attemptAt("s3://b/0"), stopped: false };
  expect(await records.read("s3://b/0")).toBeUndefined();
  expect(await records.begin("s3://b/0", first)).toBeUndefined();
  expect(await records.begin("s3://b/0", { stopped: false })).toEqual(first);
  await records.write("s3://b/0", { ...first, stopped: true });
  expect((await records.begin("s3://b/0", first))?.stopped).toBe(true);
  await records.delete("s3://b/0");
  expect(store.blobs.size).toBe(0);
});

test("attempts of a resource are listed until nothing of them runs", async () => {
  const records = recordsIn(new MemoryStore());
  const begin = (prefix: string, attempt = attemptAt(prefix)) => records.begin(prefix, { attempt, stopped: false });
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
  expect(listed).toEqual([attemptAt("s3://b/run/n0/0").request]);
  expect(await records.listRunning({ workflowKey, owner }, new Set())).toEqual([]);
});
