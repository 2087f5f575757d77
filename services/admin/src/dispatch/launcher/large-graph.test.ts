import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { WorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Bus } from "@flyte-ts/messaging";
import type { Closeable } from "@flyte-ts/async";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { id, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { MemoryKube } from "./memory-kube.fixture.js";
import { startLauncher } from "./start.js";

const config = adminConfigSchema.parse({});
const bus = { publishEphemeral: () => undefined } as unknown as Bus;
const clock = () => new Date();
const kube = new MemoryKube();
const NODES = 90;
const ADDRESS = "s3://my-s3-bucket/metadata/admin/flytesnacks/development/large/v1";

/** A blob store with simulated outages. */
const there = new Map<string, Uint8Array>();
let unavailable = false;
const answer = () => {
  if (unavailable) throw new Error("connection refused");
};
const blobs = {
  head: async (address: string) => {
    answer();
    return there.has(address) ? {} : undefined;
  },
  put: async (address: string, bytes: Uint8Array) => {
    answer();
    there.set(address, bytes);
  },
} as unknown as BlobStore;

let database: AdminDatabase;
let served: ServedAdmin;
let launcher: Closeable;
beforeAll(async () => {
  database = await adminDatabase();
  const { db } = database;
  served = await serveAdmin({ config, db, bus, clock });
  await registerWorkflow(served.admin);
  await register("often", 1);
  await register("large", NODES);
  const logger = createLogger({ service: "test", level: "silent" });
  const clusters = [{ name: "one", weight: 1, kube: kube as never }];
  launcher = await startLauncher({ config, db, bus, blobs, clusters, clock, random: Math.random, logger });
});
afterAll(async () => {
  await launcher.close();
  await served.stop();
  await database.stop();
});

/** Registers a workflow with this many nodes, and its launch plan. */
async function register(name: string, count: number): Promise<void> {
  const target = {
    case: "taskNode" as const,
    value: { reference: { case: "referenceId" as const, value: id(ResourceType.TASK, "t") } },
  };
  const workflow = id(ResourceType.WORKFLOW, name);
  const nodes = Array.from({ length: count }, (_, i) => ({ id: `n${i}`, metadata: { name: `node ${i} `.repeat(20) }, target }));
  await served.admin.createWorkflow({
    id: workflow,
    spec: { template: { id: workflow, metadata: {}, metadataDefaults: {}, interface: { inputs: {}, outputs: {} }, nodes } },
  });
  await served.admin.createLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, name), spec: { workflowId: workflow, entityMetadata: {} } });
}

test("a small graph that is launched often is stored in the blob store, and in the resources while the store is unavailable", async () => {
  const launch = async (name: string) => {
    await served.admin.createExecution({ ...scope, name, spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "often") } });
    const resource = () => kube.objects.get(`flytesnacks-development/${name}`) as { workflowClosureReference?: string } | undefined;
    await vi.waitFor(() => expect(resource()).toBeDefined(), { timeout: 60_000, interval: 20 });
    return resource()?.workflowClosureReference;
  };
  unavailable = true;
  for (let i = 0; i < 12; i++) expect(await launch(`often${i}`)).toBeUndefined();
  unavailable = false;
  expect(await launch("often12")).toBe(ADDRESS.replace("large", "often"));
  unavailable = true;
  // The cache still holds it.
  expect(await launch("often13")).toBe(ADDRESS.replace("large", "often"));
}, 150_000);

test("a large graph is stored in the blob store, and while it is unavailable the execution waits with the reason", async () => {
  unavailable = true;
  const execution = { ...scope, name: "waits" };
  await served.admin.createExecution({ ...execution, spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "large") } });
  const error = async () => {
    const { closure } = await served.admin.getExecution({ id: execution });
    return closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
  };
  await vi.waitFor(async () => expect(await error()).toMatch(/blob store.*connection refused/), { timeout: 60_000, interval: 100 });
  const resource = () => kube.objects.get("flytesnacks-development/waits");
  expect(resource()).toBeUndefined();
  unavailable = false;
  await vi.waitFor(() => expect(resource()).toBeDefined(), { timeout: 60_000, interval: 100 });
  expect(resource()).toMatchObject({ spec: null, tasks: null, workflowClosureReference: ADDRESS });
  // Go FlytePropeller expects this message in the blob.
  const closure = fromBinary(WorkflowClosureSchema, there.get(ADDRESS) ?? new Uint8Array());
  // Including the start and end nodes.
  expect(closure.compiledWorkflow?.primary?.template?.nodes).toHaveLength(NODES + 2);
}, 150_000);
