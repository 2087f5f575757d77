import { create, toBinary } from "@bufbuild/protobuf";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ManualClock, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { beforeEach, describe, expect, it } from "vitest";
import { podServiceConfig } from "../config.js";
import type { Pod } from "../kube/pod-types.js";
import { MemoryStore } from "../simulation/memory-store.js";
import { PodStatusReader } from "./pod-status.js";

const { pods: config, ...rest } = podServiceConfig.parse({ nats: { url: "" } });
const request = sampleRequest("raw-container");
if (request.template !== undefined) request.template.target = { case: "container", value: { dataConfig: { enabled: true } } as never };

describe("a raw container's end", () => {
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
    (await new PodStatusReader({ ...rest, config, store, clock: new ManualClock(), archive: { keep: () => [] } }).read(pod, request))
      .status;

  beforeEach(() => {
    store = new MemoryStore();
    const error = { code: "InputDownloadFailed", message: "input a: there is nothing", kind: ContainerError_Kind.RECOVERABLE };
    const document = create(ErrorDocumentSchema, { error: { ...error, origin: ExecutionError_ErrorKind.USER } });
    store.blobs.set(`${request.outputPrefix}/error.pb`, toBinary(ErrorDocumentSchema, document));
  });

  it("is what the copilot says when it could not bring the inputs", async () => {
    const details = { code: "InputDownloadFailed", kind: "USER", message: "input a: there is nothing" };
    expect(await read(failed(terminated("flyte-copilot-downloader", 1)))).toMatchObject({
      phase: "FAILED",
      failure: { recoverable: true, details },
    });
  });

  it("is what its log says when the copilot could not even tell", async () => {
    store.blobs.clear();
    const status = await read(failed(terminated("flyte-copilot-downloader", 1)));
    expect(status).toMatchObject({ failure: { details: { message: expect.stringContaining("log of flyte-copilot-downloader") } } });
  });

  it("is the task's own failure, not that it left no outputs", async () => {
    const status = await read(
      failed(terminated("flyte-copilot-downloader", 0), terminated("flyte-copilot-uploader", 0), terminated("main", 3)),
    );
    expect(status).toMatchObject({
      failure: { details: { code: "Error", message: expect.stringContaining("[main] terminated with exit code (3)") } },
    });
  });
});
