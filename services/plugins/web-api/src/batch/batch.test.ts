import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { integerLiteral, literalMap, stringLiteral } from "@flyte-ts/domain/literal";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { batchOver } from "../stand-in/apis.fixture.js";
import { FakeBatch } from "../stand-in/fake-batch.fixture.js";
import { awsSdkError, lostConnection } from "../stand-in/faults.fixture.js";
import { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { Stage } from "../stand-in/stage.fixture.js";
import { arrayRequest, batchRequest } from "../stand-in/tasks.fixture.js";

let stage: Stage;
let batch: FakeBatch;
let store: MemoryStore;
beforeEach(async () => {
  batch = new FakeBatch();
  store = new MemoryStore();
  stage = await new Stage({ taskTypes: ["aws-batch", "container_array"], api: batchOver(batch, store), store }).start();
});
afterEach(() => stage.stop());

const outputs = (value: number) => toBinary(LiteralMapSchema, literalMap([["o0", integerLiteral(value)]]));
const errorDocument = (message: string, kind = ContainerError_Kind.RECOVERABLE) =>
  toBinary(ErrorDocumentSchema, create(ErrorDocumentSchema, { error: { code: "USER:ValueError", message, kind, origin: 1 } }));
const finish = async (...args: Parameters<FakeBatch["finish"]>) => {
  batch.finish(...args);
  await stage.clock.advance(60_000);
};
const callsOf = (name: string) => batch.calls.filter((call) => call.name === name).length;

describe("a job", () => {
  it("goes from QUEUED to RUNNING, with links and one external resource", async () => {
    await stage.send(batchRequest());
    await stage.clock.advance(15_000);
    const phases = stage.eventsOf(batchRequest()).map(({ event }) => Phase[event?.phase ?? 0]);
    expect([...new Set(phases)]).toEqual(["QUEUED", "INITIALIZING", "RUNNING"]);
    const event = stage.last(batchRequest())?.event;
    expect(event?.reason).toBe("Job is RUNNING");
    expect(event?.metadata).toMatchObject({
      pluginIdentifier: "aws_array",
      externalResources: [{ externalId: "job-0", phase: Phase.RUNNING }],
    });
    expect(event?.logs).toMatchObject([
      { name: "AWS Batch Job", uri: "https://console.aws.amazon.com/batch/home?region=eu-west-1#jobs/detail/job-0" },
      {
        name: "AWS Batch #0-0 (RUNNING)",
        uri: "https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logEventViewer:group=/aws/batch/job;stream=stream/job-0",
      },
    ]);
  });

  it("has the outputs that its program wrote below /0, moved to those of the attempt", async () => {
    const request = batchRequest();
    await stage.send(request);
    store.blobs.set(`${request.outputPrefix}/0/outputs.pb`, outputs(7));
    await finish("SUCCEEDED");
    expect(stage.last(request)?.outputs?.literals.o0).toEqual(integerLiteral(7));
    expect(store.blobs.get(`${request.outputPrefix}/outputs.pb`)).toEqual(outputs(7));
  });

  it("passes large outputs by their file alone", async () => {
    const request = batchRequest();
    const large = toBinary(LiteralMapSchema, literalMap([["o0", stringLiteral("x".repeat(20_000))]]));
    await stage.send(request);
    store.blobs.set(`${request.outputPrefix}/0/outputs.pb`, large);
    await finish("SUCCEEDED");
    expect(stage.state(request)).toContain("SUCCEEDED");
    expect(stage.last(request)?.outputs).toBeUndefined();
    expect(store.blobs.get(`${request.outputPrefix}/outputs.pb`)).toEqual(large);
  });

  it.each(["SUCCEEDED", "FAILED"] as const)("fails with its error document when it has %s", async (status) => {
    const request = batchRequest();
    await stage.send(request);
    store.blobs.set(`${request.outputPrefix}/0/error.pb`, errorDocument("bad value", ContainerError_Kind.NON_RECOVERABLE));
    await finish(status, { reason: "Essential container in task exited" });
    expect(stage.state(request)).toBe("FAILED: permanent USER USER:ValueError: bad value");
  });

  it("without an error document fails with AWS's reason, as the system's error when the machine was taken away", async () => {
    await stage.send(batchRequest());
    await finish("FAILED", { reason: "Essential container in task exited" });
    expect(stage.state(batchRequest())).toBe(
      "FAILED: retryable USER BatchJobFailed: AWS Batch job job-0 failed: Essential container in task exited",
    );
    const spot = batchRequest({ generatedName: "a-n1-0" });
    await stage.send(spot);
    await finish("FAILED", { reason: "Host EC2 (instance i-1) terminated." });
    expect(stage.state(spot)).toContain("FAILED: retryable SYSTEM BatchJobFailed");
  });

  it("without outputs uses a retry of the user", async () => {
    await stage.send(batchRequest());
    await finish("SUCCEEDED");
    expect(stage.state(batchRequest())).toContain("FAILED: retryable UNKNOWN OutputsNotFound");
  });

  it("waits for an unavailable blob store", async () => {
    const request = batchRequest();
    await stage.send(request);
    store.blobs.set(`${request.outputPrefix}/0/outputs.pb`, outputs(7));
    store.unavailable = true;
    await finish("SUCCEEDED");
    expect(stage.state(request)).toContain("cannot read the results of the job, trying again");
    store.unavailable = false;
    await stage.clock.advance(120_000);
    expect(stage.state(request)).toContain("SUCCEEDED");
  });

  it("is found by its name and identity after the response to its submission was lost", async () => {
    const older = batchRequest({ owner: { ...batchRequest().owner, uid: "deleted" } as never });
    await stage.send(older);
    await stage.restart();
    batch.faults.add({ kind: "lose", error: lostConnection() });
    const request = batchRequest();
    // The first call registers the definition, but its response is lost; later the response to the
    // submission is lost.
    await stage.send(request);
    batch.faults.add({ kind: "refuse", error: lostConnection() }, { kind: "lose", error: lostConnection() });
    await stage.clock.advance(60_000);
    expect(batch.jobs).toHaveLength(2);
  });

  it("gets a new definition when its own was deregistered", async () => {
    await stage.send(batchRequest());
    batch.faults.add({ kind: "refuse", error: awsSdkError("ClientException", 400, "JobDefinition arn:definition:1 is not ACTIVE") });
    const second = batchRequest({ generatedName: "a-n1-0" });
    await stage.clock.advance(120_000);
    batch.faults.clear();
    batch.faults.add({ kind: "refuse", error: awsSdkError("ClientException", 400, "JobDefinition arn:definition:1 is not ACTIVE") });
    await stage.send(second);
    await stage.clock.advance(10_000);
    expect(batch.definitions).toHaveLength(2);
    expect(batch.jobs.at(-1)?.input.jobDefinition).toBe("arn:definition:2");
  });

  it("is terminated with the reason of the abort", async () => {
    await stage.send(batchRequest());
    await stage.send({ ...batchRequest(), abortReason: "enough" }, DesiredState.ABORT);
    await stage.clock.advance(10_000);
    expect(stage.state(batchRequest())).toBe("ABORTED: enough");
    expect(batch.calls.find(({ name }) => name === "TerminateJob")?.input).toEqual({ jobId: "job-0", reason: "enough" });
  });
});

describe("many jobs", () => {
  it("share one job definition, and 100 are read by one call", async () => {
    for (let i = 0; i < 250; i++) await stage.send(batchRequest({ generatedName: `a-n${i}-0` }));
    expect(callsOf("RegisterJobDefinition")).toBe(1);
    await stage.clock.advance(1_000);
    expect(callsOf("DescribeJobs")).toBeLessThanOrEqual(4);
  });
});

describe("an array", () => {
  const items = (request: TaskRequest, values: readonly (number | undefined)[]) =>
    values.forEach((value, index) => {
      if (value !== undefined) store.blobs.set(`${request.outputPrefix}/${index}/outputs.pb`, outputs(value));
    });
  const listOf = (request: TaskRequest) => {
    const list = stage.last(request)?.outputs?.literals.o0?.value;
    return list?.case === "collection"
      ? list.value.literals.map(({ value }) => (value.case === "scalar" ? value.value.value : undefined))
      : undefined;
  };

  it("is RUNNING when an item is, and shows the state of each", async () => {
    const request = arrayRequest(3);
    await stage.send(request);
    await stage.clock.advance(30_000);
    const event = stage.last(request)?.event;
    expect(stage.state(request)).toBe("RUNNING: Items of the array: 3 RUNNING");
    expect(event?.metadata?.externalResources).toMatchObject([
      { externalId: "job-0:0", index: 0, phase: Phase.RUNNING },
      { externalId: "job-0:1", index: 1 },
      { externalId: "job-0:2", index: 2, logs: [{ name: "AWS Batch #2-0 (RUNNING)" }] },
    ]);
    expect(event?.logs[0]?.uri).toContain("#jobs/array-job/job-0");
  });

  it("reads its items only when AWS's summary of them changes", async () => {
    await stage.send(arrayRequest(3));
    await stage.clock.advance(60_000);
    const reads = () => batch.calls.filter(({ name, input }) => name === "DescribeJobs" && JSON.stringify(input).includes("job-0:")).length;
    const before = reads();
    await stage.clock.advance(60_000);
    expect(reads()).toBe(before);
  });

  it("has lists of its items' outputs", async () => {
    const request = arrayRequest(3);
    await stage.send(request);
    items(request, [1, 2, 3]);
    await finish("SUCCEEDED");
    expect(listOf(request)).toMatchObject([1n, 2n, 3n].map((value) => ({ value: { value: { value } } })));
    const written = store.blobs.get(`${request.outputPrefix}/outputs.pb`);
    expect(fromBinary(LiteralMapSchema, written ?? new Uint8Array())).toEqual(stage.last(request)?.outputs);
  });

  it("has lists of one for one item", async () => {
    const request = arrayRequest(1);
    await stage.send(request);
    items(request, [5]);
    await finish("SUCCEEDED");
    expect(listOf(request)).toHaveLength(1);
  });

  it("succeeds with enough items, with none for the others", async () => {
    const request = arrayRequest(3, { minSuccesses: "2" });
    await stage.send(request);
    items(request, [1, undefined, 3]);
    await finish("FAILED", { children: ["SUCCEEDED", "FAILED", "SUCCEEDED"] });
    expect(listOf(request)).toMatchObject([{ case: "primitive" }, { case: "noneType" }, { case: "primitive" }]);
  });

  it("fails with its items' errors, shortened", async () => {
    const request = arrayRequest(3);
    await stage.send(request);
    store.blobs.set(`${request.outputPrefix}/1/error.pb`, errorDocument("x".repeat(2_000)));
    await finish("FAILED", { reason: "Array Child Job failed", children: ["SUCCEEDED", "FAILED", "SUCCEEDED"] });
    expect(stage.state(request)).toContain(
      "FAILED: retryable USER USER:ValueError: AWS Batch job job-0 failed: Array Child Job failed; Items of the array: 2 SUCCEEDED, 1 FAILED\n[1]: xxx",
    );
    expect(stage.state(request).length).toBeLessThan(560);
  });

  it("is stopped with its items", async () => {
    await stage.send(arrayRequest(3));
    await stage.send(arrayRequest(3), DesiredState.ABORT);
    await stage.clock.advance(10_000);
    expect(stage.state(arrayRequest(3))).toContain("ABORTED");
    expect(batch.running).toBe(0);
  });
});
