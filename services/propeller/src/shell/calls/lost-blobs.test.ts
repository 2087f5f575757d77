import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { BlobTooLargeError, createBlobStore } from "@flyte-ts/blobstore";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { IdentifierSchema, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { KubeClient } from "@flyte-ts/kubernetes";
import { openChannel } from "@flyte-ts/rpc";
import { API_VERSION, KIND } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallOf } from "../../engine/calls/call.js";
import { dynamicCallHandlers } from "./dynamic.js";
import { WorkflowLoader } from "../load/load-workflow.js";
import { OutputsStore } from "../effects/outputs-store.js";

let folder: string;
let closedPort: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-lost-"));
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  closedPort = (server.address() as { port: number }).port;
  await new Promise((closed) => server.close(closed));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const blobs = createBlobStore({});
/** No server listens at this address. */
const unavailable = () =>
  createBlobStore({
    s3: { endpoint: `http://127.0.0.1:${closedPort}`, region: "us-east-1", accessKeyId: "minio", secretAccessKey: "miniostorage" },
  });
/** A file in the execution's folder. */
const place = (name: string) => `file://${folder}/p/d/e/${name}`;
function garble(name: string): string {
  const path = join(folder, "p/d/e", name);
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, Buffer.from([0xff, 0xff, 0xff]));
  return place(name);
}

/** A length-delimited field: tag, length as a varint, content. */
function lengthDelimited(tag: number, content: Buffer): Buffer {
  const writer = new BinaryWriter().uint32(tag).bytes(content);
  return Buffer.from(writer.finish());
}

const LIMITS = { maxInstances: 1_000, maxDepth: 10 };

describe("blobs that the resource refers to", () => {
  const load = (store: Pick<typeof blobs, "get">, parts: object) => {
    const metadata = { namespace: "p-d", name: "e", resourceVersion: "7" };
    const resource = { apiVersion: API_VERSION, kind: KIND, metadata, executionId: { project: "p", domain: "d", name: "e" }, ...parts };
    const client = { get: () => Promise.resolve(resource) } as unknown as Pick<KubeClient, "get">;
    return new WorkflowLoader(client, store, { read: () => Promise.resolve([]) }, "{{ project }}-{{ domain }}").load({
      namespace: "p-d",
      name: "e",
    });
  };

  test.each(["workflowClosureReference", "offloadedInputs"])(
    "%s: a missing or undecodable one is a permanent error with its URI",
    async (field) => {
      await expect(load(blobs, { [field]: place("nowhere.pb") })).rejects.toMatchObject({
        name: "InvalidWorkflowError",
        message: `${field}: there is no blob at ${place("nowhere.pb")}`,
      });
      await expect(load(blobs, { [field]: garble(`${field}.pb`) })).rejects.toMatchObject({
        name: "InvalidWorkflowError",
        message: expect.stringMatching(new RegExp(`^${field}: (the blob is not a|the blob cannot be decoded:) flyteidl\\.`)),
      });
    },
  );

  test.each([
    ["workflowClosureReference", Buffer.alloc(17_000_000, Buffer.from([0x22, 0x00])), [0x0a, 0x0a], 8_000_000],
    ["offloadedInputs", Buffer.alloc(9_000_000, Buffer.from([0x0a, 0x00])), [], 4_000_000],
  ] as const)("%s: one with too many elements is not decoded and is a permanent error", async (field, values, path, most) => {
    const bomb = path.reduceRight<Buffer>((inner, tag) => lengthDelimited(tag, inner), values);
    mkdirSync(join(folder, "p/d/e"), { recursive: true });
    writeFileSync(join(folder, "p/d/e", "bomb.pb"), bomb);
    await expect(load(blobs, { [field]: place("bomb.pb") })).rejects.toMatchObject({
      name: "InvalidWorkflowError",
      message: expect.stringMatching(new RegExp(`^${field}: the blob cannot be decoded: \\S+ has more than ${most} elements`)),
    });
  });

  test("a blob above the size limit is a permanent error", async () => {
    const tooLarge = { get: (uri: string) => Promise.reject(new BlobTooLargeError(uri, 5_000_000_000, 1)) };
    await expect(load(tooLarge, { offloadedInputs: place("large.pb") })).rejects.toMatchObject({
      name: "InvalidWorkflowError",
      message: expect.stringMatching(/^offloadedInputs: .*5000000000/),
    });
  });

  test("a graph that cannot be built is a permanent error with the reason", async () => {
    const id = { project: "p", domain: "d", name: "n", version: "v" };
    const custom = { memory: Number.NaN };
    const closure = create(CompiledWorkflowClosureSchema, {
      primary: { template: { id }, connections: { downstream: { "start-node": { ids: ["end-node"] } } } },
      tasks: [{ template: { id, type: "t", custom } }],
    });
    writeFileSync(join(folder, "p/d/e", "odd.pb"), toBinary(CompiledWorkflowClosureSchema, closure));
    await expect(load(blobs, { workflowClosureReference: place("odd.pb") })).rejects.toMatchObject({
      name: "InvalidWorkflowError",
      resourceVersion: "7",
      message: expect.stringMatching(/^flyteidl\.core\.TaskTemplate: .*NaN/),
    });
  });

  test("an unavailable store is a transient error", async () => {
    const uri = "s3://bucket/closure.pb";
    const failed = load(unavailable(), { workflowClosureReference: uri });
    await expect(failed).rejects.toMatchObject({ name: "BlobUnavailableError", message: expect.stringContaining(uri) });
  });
});

test("missing, undecodable and unavailable outputs are distinguished", async () => {
  const store = new OutputsStore(blobs);
  expect(await store.readOutputs(place("none.pb"))).toEqual({ kind: "missing" });
  expect(await store.readOutputs(garble("outputs.pb"))).toMatchObject({
    kind: "corrupt",
    message: expect.stringContaining("it is not a valid flyteidl.core.LiteralMap"),
  });
  expect(await new OutputsStore(unavailable()).readOutputs("s3://bucket/outputs.pb")).toMatchObject({
    kind: "error",
    message: expect.stringContaining("s3://bucket/outputs.pb"),
  });
});

describe("the output of a dynamic task", () => {
  const callDynamic = (store: typeof blobs, attemptDir: string, compiledBefore = false) => {
    const channel = openChannel({ endpoint: `127.0.0.1:${closedPort}`, deadlineMs: 1_000 });
    const { readDynamic } = dynamicCallHandlers({
      channel,
      blobs: store,
      concurrency: 1,
      maxBytes: 1_000,
      maxEventBytes: 1_000,
      limits: LIMITS,
    });
    const none = { cpu: "", memory: "", ephemeralStorage: "", storage: "", gpu: "" };
    const question: CallOf<"readDynamic"> = {
      kind: "readDynamic",
      attemptDir,
      id: create(IdentifierSchema),
      execution: create(WorkflowExecutionIdentifierSchema),
      parent: create(TaskTemplateSchema),
      options: { resources: { defaults: none, limits: none } },
      compiledBefore,
    };
    return readDynamic(question, "p-d/e").finally(() => channel.close());
  };

  test.each([false, true])("is refused with its URI when it is missing or undecodable (compiled before: %s)", async (before) => {
    expect(await callDynamic(blobs, place("lost"), before)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining(`there is no blob at ${place("lost/futures.pb")}`),
    });
    garble("garbled/futures.pb");
    expect(await callDynamic(blobs, place("garbled"), before)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining(`at ${place("garbled/futures.pb")}`),
    });
  });

  test("is refused when its compiled form is undecodable", async () => {
    garble("entered/dynamic_compiled.pb");
    expect(await callDynamic(blobs, place("entered"), true)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining(`at ${place("entered/dynamic_compiled.pb")}`),
    });
  });

  test("is requested again when the store is unavailable", async () => {
    expect(await callDynamic(unavailable(), "s3://bucket/attempt")).toMatchObject({
      kind: "error",
      message: expect.stringContaining("s3://bucket/attempt/futures.pb"),
    });
  });
});
