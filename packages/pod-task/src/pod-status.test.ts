import { create, toBinary } from "@bufbuild/protobuf";
import { ManualTime } from "@flyte-ts/async/manual-time";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { RetryLater, type TaskStatus } from "@flyte-ts/task-plugin";
import { MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { beforeEach, describe, expect, it } from "vitest";
import { podSettings } from "./settings.js";
import type { Pod } from "./pod-types.js";
import { PodStatusReader } from "./pod-status.js";

const config = podSettings.parse({});
const rest = {
  gracePeriods: { createContainerErrorMs: 0, createContainerConfigErrorMs: 0, imagePullBackOffMs: 0, podPendingMs: 0 },
  limits: { maxOutputBytes: 1_000_000, inlineBytes: 8_192 },
  logLinks: [],
};
const request = sampleRequest("raw-container");
if (request.template !== undefined) request.template.target = { case: "container", value: { dataConfig: { enabled: true } } as never };

describe("the result of a raw container", () => {
  let store: MemoryStore;
  const terminated = (name: string, exitCode: number) => ({
    name,
    state: { terminated: { exitCode, reason: "Error", message: `log of ${name}` } },
  });
  const failed = (...ends: ReturnType<typeof terminated>[]): Pod => ({
    metadata: { name: request.generatedName, namespace: request.namespace, uid: "u" },
    spec: { containers: [{ name: "main" }] },
    status: {
      phase: "Failed",
      initContainerStatuses: ends.filter(({ name }) => name !== "main"),
      containerStatuses: ends.filter(({ name }) => name === "main"),
    },
  });
  const read = async (pod: Pod) =>
    (await new PodStatusReader({ ...rest, config, store, clock: new ManualTime(), archive: { archive: () => [] } }).read(pod, request))
      .status;

  beforeEach(() => {
    store = new MemoryStore();
    const error = { code: "InputDownloadFailed", message: "input a: there is nothing", kind: ContainerError_Kind.RECOVERABLE };
    const document = create(ErrorDocumentSchema, { error: { ...error, origin: ExecutionError_ErrorKind.USER } });
    store.blobs.set(`${request.outputPrefix}/error.pb`, toBinary(ErrorDocumentSchema, document));
  });

  it("is the copilot's error when the inputs could not be downloaded", async () => {
    const details = { code: "InputDownloadFailed", kind: "USER", message: "input a: there is nothing" };
    expect(await read(failed(terminated("flyte-copilot-downloader", 1)))).toMatchObject({
      phase: "FAILED",
      failure: { recoverable: true, details },
    });
  });

  it("is the termination message when the copilot wrote no error document", async () => {
    store.blobs.clear();
    const status = await read(failed(terminated("flyte-copilot-downloader", 1)));
    expect(status).toMatchObject({ failure: { details: { message: expect.stringContaining("log of flyte-copilot-downloader") } } });
  });

  it("is the failure of the task rather than missing outputs", async () => {
    const status = await read(
      failed(terminated("flyte-copilot-downloader", 0), terminated("flyte-copilot-uploader", 0), terminated("main", 3)),
    );
    expect(status).toMatchObject({
      failure: { details: { code: "Error", message: expect.stringContaining("[main] terminated with exit code (3)") } },
    });
  });
});

describe("an attempt that fails during an outage of the blob store", () => {
  const START = Date.parse("2030-01-01T00:00:00Z");
  const ended = (exitCode: number, reason = "Error"): Pod => ({
    metadata: { name: request.generatedName, namespace: request.namespace, uid: "u", creationTimestamp: new Date(START).toISOString() },
    spec: { containers: [{ name: "main" }] },
    status: { phase: "Failed", containerStatuses: [{ name: "main", state: { terminated: { exitCode, reason, message: "traceback" } } }] },
  });
  const world = () => {
    const [store, clock] = [new MemoryStore(), new ManualTime(new Date(START + 5_000))];
    const reader = new PodStatusReader({ ...rest, config, store, clock, archive: { archive: () => [] } });
    return { store, kindOf: async (pod: Pod) => failureKind((await reader.read(pod, request)).status) };
  };
  const failureKind = (status: TaskStatus | undefined) => (status?.phase === "FAILED" ? status.failure.details.kind : status?.phase);

  it("is reported after the outage as a SYSTEM failure", async () => {
    const { store, kindOf } = world();
    store.unavailable = true;
    await expect(kindOf(ended(1))).rejects.toBeInstanceOf(RetryLater);
    store.unavailable = false;
    expect(await kindOf(ended(1))).toBe("SYSTEM");
  });

  it("is a USER failure when the outage ended before the attempt", async () => {
    expect(await world().kindOf(ended(1))).toBe("USER");
    const other = world();
    other.store.unavailable = true;
    await expect(other.kindOf(ended(1))).rejects.toBeInstanceOf(RetryLater);
    other.store.unavailable = false;
    const later = ended(1);
    later.metadata = { ...later.metadata, uid: "v", creationTimestamp: new Date(START + 60_000).toISOString() };
    expect(await other.kindOf(later)).toBe("USER");
  });

  it("is a USER failure when it ran out of memory", async () => {
    const { store, kindOf } = world();
    store.unavailable = true;
    expect(await kindOf(ended(137, "OOMKilled"))).toBe("USER");
  });
});
