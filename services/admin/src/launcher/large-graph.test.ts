import { fromBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Bus } from "@flyte-ts/messaging";
import { createLogger, type Running } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { adminConfigSchema } from "../config.js";
import { type AdminDatabase, adminDatabase } from "../database.fixture.js";
import { id, registerWorkflow, scope } from "../execution/registered.fixture.js";
import { type ServedAdmin, serveAdmin } from "../served-admin.fixture.js";
import { MemoryKube } from "./memory-kube.fixture.js";
import { startLauncher } from "./start.js";

const config = adminConfigSchema.parse({});
const bus = { publishVolatile: () => undefined } as unknown as Bus;
const clock = () => new Date();
const kube = new MemoryKube();
const NODES = 90;
const ADDRESS = "s3://my-s3-bucket/metadata/admin/flytesnacks/development/large/v1";

/** A blob store that can be away. */
const there = new Map<string, Uint8Array>();
let away = true;
const answer = () => {
  if (away) throw new Error("connection refused");
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
let launcher: Running;
beforeAll(async () => {
  database = await adminDatabase();
  const { db } = database;
  served = await serveAdmin({ config, db, bus, clock });
  await registerWorkflow(served.admin);
  const target = {
    case: "taskNode" as const,
    value: { reference: { case: "referenceId" as const, value: id(ResourceType.TASK, "t") } },
  };
  const large = id(ResourceType.WORKFLOW, "large");
  const nodes = Array.from({ length: NODES }, (_, i) => ({ id: `n${i}`, metadata: { name: `node ${i} `.repeat(20) }, target }));
  await served.admin.createWorkflow({
    id: large,
    spec: { template: { id: large, metadata: {}, metadataDefaults: {}, interface: { inputs: {}, outputs: {} }, nodes } },
  });
  await served.admin.createLaunchPlan({ id: id(ResourceType.LAUNCH_PLAN, "large"), spec: { workflowId: large, entityMetadata: {} } });
  const logger = createLogger({ service: "test", level: "silent" });
  const clusters = [{ name: "one", weight: 1, kube: kube as never }];
  launcher = await startLauncher({ config, db, bus, blobs, clusters, clock, random: Math.random, logger });
});
afterAll(async () => {
  await launcher.close();
  await served.stop();
  await database.stop();
});

test("a large graph stands in the blob store, and while that is away the execution waits and says so", async () => {
  const execution = { ...scope, name: "waits" };
  await served.admin.createExecution({ ...execution, spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "large") } });
  const error = async () => {
    const { closure } = await served.admin.getExecution({ id: execution });
    return closure?.outputResult.case === "error" ? closure.outputResult.value.message : "";
  };
  await vi.waitFor(async () => expect(await error()).toMatch(/blob store .*connection refused/), { timeout: 60_000, interval: 100 });
  expect(kube.objects.size).toBe(0);
  away = false;
  const resource = () => kube.objects.get("flytesnacks-development/waits");
  await vi.waitFor(() => expect(resource()).toBeDefined(), { timeout: 60_000, interval: 100 });
  expect(resource()).toMatchObject({ spec: null, tasks: null, workflowClosureReference: ADDRESS });
  const closure = fromBinary(CompiledWorkflowClosureSchema, there.get(ADDRESS) ?? new Uint8Array());
  // With the nodes for its start and its end.
  expect(closure.primary?.template?.nodes).toHaveLength(NODES + 2);
}, 150_000);
