import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Bus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test, vi } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { adminDatabase } from "../../database.fixture.js";
import { id, registerLaunchPlan, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { serveAdmin } from "../../served-admin.fixture.js";
import { MemoryKube } from "./memory-kube.fixture.js";
import { startLauncher } from "./start.js";
import { writeTaskQueue } from "./task-queue.js";

test("the queue is written into containers that name none, and into nothing else", () => {
  const own = { key: "dynamic_queue", value: "own" };
  const closure = create(CompiledWorkflowClosureSchema, {
    primary: { template: { nodes: [{ id: "n0" }] } },
    tasks: [
      { template: { target: { case: "container", value: { config: [{ key: "a", value: "b" }] } } } },
      { template: { target: { case: "container", value: { config: [own] } } } },
      { template: { target: { case: "sql", value: { statement: "SELECT 1" } } } },
    ],
  });
  const written = fromBinary(CompiledWorkflowClosureSchema, writeTaskQueue(toBinary(CompiledWorkflowClosureSchema, closure), "q"));
  const configs = written.tasks.map(({ template }) => (template?.target.case === "container" ? template.target.value.config : undefined));
  expect(configs).toMatchObject([[{ key: "a" }, { key: "dynamic_queue", value: "q" }], [own], undefined]);
  expect(written.primary).toEqual(closure.primary);
});

test("executions get the queue of their domain, or of the project's attributes", async () => {
  const database = await adminDatabase();
  const { db } = database;
  const bus = { publishEphemeral: () => undefined } as unknown as Bus;
  const clock = () => new Date();
  const queues = {
    executionQueues: [
      { dynamic: "queue-default", attributes: ["default"] },
      { dynamic: "queue-large", attributes: ["large"] },
    ],
    workflowConfigs: [{ domain: "development", tags: ["default"] }],
  };
  const config = adminConfigSchema.parse({ queues });
  const served = await serveAdmin({ config, db, bus, clock });
  await registerWorkflow(served.admin);
  await registerLaunchPlan(served.admin, "w");
  const kube = new MemoryKube();
  const launcher = await startLauncher({
    config,
    db,
    bus,
    blobs: {} as BlobStore,
    clusters: [{ name: "one", weight: 1, kube: kube as never }],
    clock,
    random: Math.random,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  const queueOf = async (name: string) => {
    const inputs = {
      literals: {
        x: { value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: 1n } } } } } },
      },
    };
    await served.admin.createExecution({
      ...scope,
      name,
      spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "w") },
      inputs: inputs as never,
    });
    const resource = () => kube.objects.get(`flytesnacks-development/${name}`) as { tasks?: object } | undefined;
    await vi.waitFor(() => expect(resource()).toBeDefined(), { timeout: 60_000, interval: 20 });
    return /"dynamic_queue","value":"([^"]*)"/.exec(JSON.stringify(resource()?.tasks))?.[1];
  };
  try {
    expect(await queueOf("first")).toBe("queue-default");
    await served.admin.updateProjectDomainAttributes({
      attributes: { ...scope, matchingAttributes: { target: { case: "executionQueueAttributes", value: { tags: ["large"] } } } },
    });
    expect(await queueOf("second")).toBe("queue-large");
  } finally {
    await launcher.close();
    await served.stop();
    await database.stop();
  }
});
