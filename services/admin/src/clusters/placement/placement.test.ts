import type { MessageInitShape } from "@bufbuild/protobuf";
import type { BlobStore } from "@flyte-ts/blobstore";
import { ExecutionMetadata_ExecutionMode as Mode, type ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { KubeError, type KubeObject, type ResourceRef } from "@flyte-ts/kubernetes";
import type { Bus } from "@flyte-ts/messaging";
import { Code } from "@flyte-ts/rpc";
import type { Closeable } from "@flyte-ts/async";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { type AdminDatabase, adminDatabase } from "../../database.fixture.js";
import { OUTBOX_CHANNEL } from "../../executions/store/execution/insert.js";
import { id, integer, registerLaunchPlan, registerWorkflow, scope } from "../../executions/execution/registered-workflow.fixture.js";
import { MemoryKube } from "../../dispatch/launcher/memory-kube.fixture.js";
import { expediteEntries } from "../../executions/store/outbox/outbox.js";
import { startLauncher } from "../../dispatch/launcher/start.js";
import { type ServedAdmin, serveAdmin } from "../../served-admin.fixture.js";
import { watchClusters, type WatchedHealth } from "../health/health.js";

/** A Kubernetes API with special failures of create requests. */
class OddKube extends MemoryKube {
  /** Creates the resource and loses the response. */
  losesAnswers = false;
  /** Refuses connections: no request is sent. */
  closed = false;

  override async create<T extends KubeObject>(ref: ResourceRef, object: KubeObject): Promise<T> {
    if (this.closed) throw new KubeError("connection refused", { status: 0, cause: { code: "ECONNREFUSED" } });
    const made = await super.create<T>(ref, object);
    if (this.losesAnswers && ref.plural === "flyteworkflows") throw new KubeError("other side closed", { status: 0 });
    return made;
  }
}

const logger = createLogger({ service: "test", level: "silent" });
const config = adminConfigSchema.parse({
  clusters: [{ name: "east", weight: 3 }, { name: "west" }, { name: "gpu", weight: 0, pools: ["gold"] }],
  placement: {
    labelClusterMap: { east: [{ id: "east" }], accelerated: [{ id: "gpu" }] },
    clusterPoolAssignments: { staging: { pool: "gold" } },
  },
  clusterHealth: { intervalMs: 20, timeoutMs: 200, failures: 2 },
});
const names = ["east", "west", "gpu"] as const;
type Name = (typeof names)[number];
let kubes: Record<Name, OddKube>;
// The server and the launcher use the clusters of the current test.
const clusters = config.clusters.map((cluster) => ({
  ...cluster,
  get kube() {
    return kubes[cluster.name as Name] as never;
  },
}));
let health: WatchedHealth;
const healthOfNow = {
  unhealthyReason: (name: string) => health.unhealthyReason(name),
  breaker: (name: string) => health.breaker(name),
  probeNow: (name: string) => health.probeNow(name),
  raceWithHealth: <T>(name: string, work: Promise<T>) => health.raceWithHealth(name, work),
};
const bus = { publishEphemeral: () => undefined } as unknown as Bus;
let database: AdminDatabase;
let served: ServedAdmin;

beforeAll(async () => {
  database = await adminDatabase();
  served = await serveAdmin({ config, db: database.db, bus, clusters, health: healthOfNow });
  await registerWorkflow(served.admin);
  await registerLaunchPlan(served.admin, "l");
});
afterAll(async () => {
  await served.stop();
  await database.stop();
});
beforeEach(async () => {
  await database.db.query({ text: "TRUNCATE executions, execution_outbox, node_executions, matchable_attributes CASCADE" });
  kubes = { east: new OddKube(), west: new OddKube(), gpu: new OddKube() };
  health = await watchClusters({
    clusters,
    limits: config.clusterHealth,
    logger,
    now: Date.now,
    onRecovered: (name) => void expediteEntries(database.db, name, OUTBOX_CHANNEL),
  });
});
afterEach(() => health.close());

const launchers: Closeable[] = [];
const launch = async () => {
  const launcher = await startLauncher({
    config,
    db: database.db,
    bus,
    blobs: {} as BlobStore,
    clusters,
    health: healthOfNow,
    clock: () => new Date(),
    random: () => 0,
    logger,
  });
  launchers.push(launcher);
  return launcher;
};
afterEach(async () => void (await Promise.all(launchers.splice(0).map((launcher) => launcher.close()))));

type Spec = Omit<MessageInitShape<typeof ExecutionSpecSchema>, "$typeName">;
const key = (name: string) => ({ ...scope, name });
const request = (name: string, spec: Spec = {}) => ({
  ...scope,
  name,
  spec: { launchPlan: id(ResourceType.LAUNCH_PLAN, "l"), ...spec },
  inputs: { literals: { x: integer(5n) } },
});
const make = (name: string, spec?: Spec) => served.admin.createExecution(request(name, spec));
const clusterOf = async (name: string) =>
  (await served.admin.getExecution({ id: key(name) })).spec?.metadata?.systemMetadata?.executionCluster;
const closureOf = async (name: string) => (await served.admin.getExecution({ id: key(name) })).closure;
const errorOf = async (name: string) => {
  const result = (await closureOf(name))?.outputResult;
  return result?.case === "error" ? `${result.value.code}: ${result.value.message}` : undefined;
};
const held = (name: Name) => [...kubes[name].objects.keys()].map((object) => object.split("/")[1]);
const label = (value: string) => ({ executionClusterLabel: { value } });
const idle = () =>
  vi.waitFor(async () => expect((await database.db.query({ text: "SELECT 1 FROM execution_outbox" })).rows).toEqual([]), 20_000);
const down = (name: Name) => {
  kubes[name].down = true;
  return vi.waitFor(() => expect(health.unhealthyReason(name)).toBeDefined(), 10_000);
};
/** Finds a name that is placed in the cluster while all are healthy. */
async function placedIn(cluster: Name, prefix: string): Promise<string> {
  for (let i = 0; ; i++) {
    const name = `${prefix}${i}`;
    await make(name);
    if ((await clusterOf(name)) === cluster) return name;
  }
}

describe("placement", () => {
  test("follows the weights, and users see the chosen cluster", async () => {
    await Promise.all(Array.from({ length: 40 }, (_, i) => make(`w${i}`)));
    await launch();
    await idle();
    const [east, west, gpu] = [held("east"), held("west"), held("gpu")];
    expect([east.length + west.length, gpu]).toEqual([40, []]);
    expect(east.length).toBeGreaterThan(west.length);
    expect(west.length).toBeGreaterThan(0);
    for (const name of west) expect(await clusterOf(name ?? "")).toBe("west");
    const { executions } = await served.admin.listExecutions({ id: scope, limit: 100, filters: "eq(cluster,west)" });
    expect(new Set(executions.map((execution) => execution.id?.name))).toEqual(new Set(west));
  });

  test("follows the label of the request, then of the most specific attribute; an unknown label is ignored", async () => {
    const attributes = (value: string) => ({ target: { case: "executionClusterLabel" as const, value: { value } } });
    await served.admin.updateProjectDomainAttributes({ attributes: { ...scope, matchingAttributes: attributes("east") } });
    await served.admin.updateWorkflowAttributes({ attributes: { ...scope, workflow: "w", matchingAttributes: attributes("accelerated") } });
    await make("asked", label("east"));
    await make("attribute");
    expect([await clusterOf("asked"), await clusterOf("attribute")]).toEqual(["east", "gpu"]);
    await make("unknown", label("nowhere"));
    expect(["east", "west"]).toContain(await clusterOf("unknown"));
  });

  test("follows the pool of the request, the attribute or the domain; contradictions are refused", async () => {
    await make("pooled", { clusterAssignment: { clusterPoolName: "gold" } });
    expect(await clusterOf("pooled")).toBe("gpu");
    await expect(make("nobody", { clusterAssignment: { clusterPoolName: "lead" } })).rejects.toMatchObject({
      code: Code.INVALID_ARGUMENT,
      message: expect.stringContaining('no cluster accepts executions of cluster pool "lead"'),
    });
    await expect(make("both", { ...label("east"), clusterAssignment: { clusterPoolName: "gold" } })).rejects.toThrow(
      'no cluster accepts executions of execution cluster label "east" and cluster pool "gold"',
    );
    const matchingAttributes = { target: { case: "clusterAssignment" as const, value: { clusterPoolName: "gold" } } };
    await served.admin.updateProjectDomainAttributes({ attributes: { ...scope, matchingAttributes } });
    await make("assigned");
    expect(await clusterOf("assigned")).toBe("gpu");
    await expect(make("other", { clusterAssignment: { clusterPoolName: "silver" } })).rejects.toThrow(/configured to run on pool "gold"/);
  });

  test("keeps children in the cluster of their parent, and places a relaunch anew with the same label", async () => {
    await make("parent", label("accelerated"));
    const parentNodeExecution = { nodeId: "n0", executionId: key("parent") };
    await down("gpu");
    await make("child", { metadata: { mode: Mode.CHILD_WORKFLOW, nesting: 1, parentNodeExecution } });
    expect(await clusterOf("child")).toBe("gpu");
    await make("plain", label("east"));
    await served.admin.relaunchExecution({ id: key("plain"), name: "again" });
    expect(await clusterOf("again")).toBe("east");
    await launch();
    await vi.waitFor(() => expect(held("east").toSorted()).toEqual(["again", "plain"]), 10_000);
    expect([held("gpu"), held("west")]).toEqual([[], []]);
  });
});

describe("a cluster that is down", () => {
  test("gets no new executions, and unsent ones are moved", async () => {
    const name = await placedIn("east", "m");
    await down("east");
    await make("later");
    expect(await clusterOf("later")).toBe("west");
    await launch();
    await idle();
    expect(held("west")).toEqual(expect.arrayContaining([name, "later"]));
    expect(held("east")).toEqual([]);
    expect(await clusterOf(name)).toBe("west");
  });

  test("keeps executions that no other cluster may run, which show the reason and continue after its recovery", async () => {
    await launch();
    await down("east");
    await make("waits", label("east"));
    await vi.waitFor(
      async () => expect(await errorOf("waits")).toMatch(/^Waiting: data plane east is down since .*: its API does not answer$/),
      10_000,
    );
    kubes.east.down = false;
    await idle();
    expect(held("east")).toEqual(["waits"]);
    expect(await errorOf("waits")).toBeUndefined();
  });

  test("keeps executions that it may have received", async () => {
    const name = await placedIn("east", "a");
    kubes.east.losesAnswers = true;
    await launch();
    await vi.waitFor(() => expect(held("east")).toContain(name), 10_000);
    await down("east");
    // Another replica, after a crash of the first, has only the state in the database.
    await Promise.all(launchers.splice(0).map((launcher) => launcher.close()));
    await database.db.query({ text: "UPDATE execution_outbox SET available_at = now()" });
    await launch();
    await vi.waitFor(async () => expect(await errorOf(name)).toContain("data plane east is down"), 10_000);
    kubes.east.losesAnswers = false;
    kubes.east.down = false;
    await idle();
    expect(held("west")).not.toContain(name);
    expect(await clusterOf(name)).toBe("east");
  });

  test("loses executions that it cannot have received", async () => {
    const name = await placedIn("east", "r");
    kubes.east.closed = true;
    await launch();
    await vi.waitFor(async () => {
      const { rows } = await database.db.query<{ last_error: string }>({ text: "SELECT last_error FROM execution_outbox" });
      expect(rows.map(({ last_error: error }) => error)).toContain("connection refused");
    }, 10_000);
    await down("east");
    await idle();
    expect(held("west")).toContain(name);
    expect(await clusterOf(name)).toBe("west");
  });

  test("keeps an execution whose placement was committed before a crash of the replica", async () => {
    const name = await placedIn("east", "c");
    // State after a crash between the commit of the placement and the request.
    await database.db.query({ text: "UPDATE execution_outbox SET movable = false, attempts = 1" });
    await down("east");
    await launch();
    await vi.waitFor(async () => expect(await errorOf(name)).toContain("data plane east is down"), 10_000);
    expect(held("west")).not.toContain(name);
    kubes.east.down = false;
    await idle();
    expect(held("east")).toContain(name);
  });

  test("does not prevent the abort of an execution that no cluster received", async () => {
    for (const name of names) await down(name);
    await launch();
    await make("aborted");
    await vi.waitFor(async () => expect(await errorOf("aborted")).toContain("is down"), 10_000);
    await served.admin.terminateExecution({ id: key("aborted"), cause: "enough" });
    await vi.waitFor(async () => expect((await closureOf("aborted"))?.phase).toBe(Phase.ABORTED), 10_000);
  });

  test("receives aborts of its own executions after its recovery", async () => {
    await launch();
    await make("runs", label("east"));
    await idle();
    await down("east");
    await served.admin.terminateExecution({ id: key("runs"), cause: "enough" });
    kubes.east.down = false;
    await idle();
    expect(kubes.east.objects.get("flytesnacks-development/runs")?.metadata.deletionTimestamp).toBeDefined();
  });
});
