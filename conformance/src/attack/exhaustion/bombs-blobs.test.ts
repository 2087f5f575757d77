import { readFileSync } from "node:fs";
import { join } from "node:path";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { TaskMetadataSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { NodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scope } from "../../api/valid-requests.js";
import { waitForEnd } from "../../stack/executions.js";
import { type RunningStack, startStack } from "../../stack/stack-fixture.js";
import { STORED_BOMBS } from "./bombs.fixture.js";
import { type Cost, excessOfEach, MAX_REFUSAL_COST } from "./process-cost.fixture.js";

// Writes blobs that are small in the store and large in memory or slow to parse, at every place
// where a service reads a blob. Every user who runs a task can do that. The execution must fail
// with a reason, and no service may spend more than process-cost.fixture.ts allows.
const BUCKET = "s3://my-s3-bucket";
const TIMEOUT_MS = 60_000;

let stack: RunningStack;
let client: FlyteClient;
let blobs: BlobStore;
let pids: Readonly<Record<string, number>>;
beforeAll(async () => {
  stack = await startStack(["--no-example"]);
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  const { blobKeyId, blobSecretKey } = JSON.parse(readFileSync(join(stack.folder, "credentials.json"), "utf8")) as Record<string, string>;
  blobs = createBlobStore({
    s3: { endpoint: `http://127.0.0.1:${stack.blobs}`, accessKeyId: blobKeyId, secretAccessKey: blobSecretKey },
    azure: {},
  });
  await registerReaders();
  pids = Object.fromEntries((["admin", "propeller", "plugin-pod"] as const).map((part) => [part, stack.pids(part)[0] ?? 0]));
  // Warm up: the first execution of each kind loads and compiles code.
  for (const name of READERS) await waitForEndOf(await startExecution(name));
}, 300_000);
afterAll(async () => {
  blobs?.close();
  client?.close();
  await stack?.stop();
}, 60_000);

const ids = (resourceType: ResourceType, name: string): Identifier =>
  create(IdentifierSchema, { ...scope, resourceType, name: `bombs.${name}`, version: "v1" });
const integer = { type: { case: "simple" as const, value: SimpleType.INTEGER } };
const list = { type: { case: "collectionType" as const, value: integer } };
const promise = (name: string) => ({
  var: name,
  binding: { value: { case: "promise" as const, value: { nodeId: "n0", var: "o" } } },
});
const taskNode = (name: string) => ({
  case: "taskNode" as const,
  value: { reference: { case: "referenceId" as const, value: ids(ResourceType.TASK, name) } },
});

/** Workflows whose second node reads the outputs of the first one, one for each way of reading. */
const READERS = ["task", "cached", "array", "silent"] as const;
type Reader = (typeof READERS)[number];

type Variables = MessageInitShape<typeof VariableMapSchema>["variables"];
type TaskMetadata = Omit<MessageInitShape<typeof TaskMetadataSchema>, "$typeName">;

async function registerReaders(): Promise<void> {
  const task = (name: string, inputs: Variables, outputs: Variables, metadata: TaskMetadata = {}) => {
    const id = ids(ResourceType.TASK, name);
    const template = {
      id,
      type: "container",
      metadata: { runtime: { type: 1, version: "1", flavor: "shell" }, ...metadata },
      interface: { inputs: { variables: inputs }, outputs: { variables: outputs } },
      target: { case: "container" as const, value: { image: "shell:1", command: ["true"] } },
    };
    return client.admin.createTask({ id, spec: { template } });
  };
  await task("first", {}, { o: { type: integer } });
  await task("cached", {}, { o: { type: integer } }, { discoverable: true, discoveryVersion: "1" });
  await task("lists", {}, { o: { type: list } });
  await task("silent", {}, {});
  await task("second", { a: { type: integer } }, {});
  const second = { id: "n1", metadata: { name: "n1" }, upstreamNodeIds: ["n0"], inputs: [promise("a")], target: taskNode("second") };
  const array = {
    ...second,
    target: {
      case: "arrayNode" as const,
      value: { node: { id: "item", metadata: { name: "item" }, target: taskNode("second") }, isOriginalSubNodeInterface: true },
    },
  };
  const workflow = async (name: Reader, first: string, ...others: MessageInitShape<typeof NodeSchema>[]) => {
    const id = ids(ResourceType.WORKFLOW, name);
    const nodes = [{ id: "n0", metadata: { name: "n0" }, target: taskNode(first) }, ...others];
    const template = { id, metadata: {}, metadataDefaults: {}, interface: { inputs: {}, outputs: {} }, nodes };
    await client.admin.createWorkflow({ id, spec: { template } });
    await client.admin.createLaunchPlan({ id: ids(ResourceType.LAUNCH_PLAN, name), spec: { workflowId: id, entityMetadata: {} } });
  };
  await workflow("task", "first", second);
  await workflow("cached", "cached", second);
  await workflow("array", "lists", array);
  await workflow("silent", "silent");
}

let count = 0;
/**
 * Number of attempts when all failures have causes other than the task's code: the first attempt
 * and its retries.
 */
const ATTEMPTS = 5;
/**
 * Starts an execution that finds a planted file where each attempt of its first task should have
 * written its outputs.
 */
async function startExecution(reader: Reader, planted?: { readonly file: string; readonly bytes: Uint8Array }): Promise<string> {
  const name = `b${count++}x${Date.now().toString(36)}`;
  const folder = `${BUCKET}/metadata/propeller/${scope.project}-${scope.domain}-${name}/n0/data`;
  if (planted !== undefined)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) await blobs.put(`${folder}/${attempt}/${planted.file}`, planted.bytes);
  await client.admin.createExecution({ ...scope, name, spec: { launchPlan: ids(ResourceType.LAUNCH_PLAN, reader), metadata: {} } });
  return name;
}

async function waitForEndOf(name: string): Promise<readonly [string, string]> {
  const { closure } = await waitForEnd(client, { ...scope, name }, TIMEOUT_MS);
  const error = closure?.outputResult.case === "error" ? closure.outputResult.value : undefined;
  return [WorkflowExecution_Phase[closure?.phase ?? 0] ?? "", error === undefined ? "" : `${error.code}: ${error.message}`];
}

/** Processor time that an execution of two small pods costs in any one service, ms. */
const EXECUTION_CPU_MS = 150;

describe.each(Object.entries(STORED_BOMBS))("%s", (_, bytes) => {
  test.each([
    { what: "outputs of a task that another reads", reader: "task", file: "outputs.pb", reads: 1 },
    // Propeller reads the outputs once for the cache and once for the next task.
    { what: "outputs of a task that is cached", reader: "cached", file: "outputs.pb", reads: 3 },
    { what: "outputs of a task over which an array runs", reader: "array", file: "outputs.pb", reads: 1 },
    { what: "the error of a task", reader: "silent", file: "error.pb", reads: ATTEMPTS },
    { what: "the workflow of a dynamic task", reader: "silent", file: "futures.pb", reads: 1 },
  ] as const)("$what", { timeout: 300_000 }, async ({ reader, file, reads }) => {
    let end: readonly [string, string] = ["", ""];
    const most: Cost = { processorMs: EXECUTION_CPU_MS + reads * MAX_REFUSAL_COST.processorMs, peakBytes: MAX_REFUSAL_COST.peakBytes };
    const excess = await excessOfEach(pids, { most, tries: 4 }, async () => {
      end = await waitForEndOf(await startExecution(reader, { file, bytes }));
    });
    expect(end).toEqual(["FAILED", expect.stringMatching(/outputs|error not formatted|futures/)]);
    expect(excess).toEqual([]);
    expect(Object.keys(pids).map((part) => stack.pids(part as "admin")[0])).toEqual(Object.values(pids));
  });
});
