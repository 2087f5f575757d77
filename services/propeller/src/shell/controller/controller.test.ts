import { setImmediate as nextTurn } from "node:timers/promises";
import { create, fromBinary } from "@bufbuild/protobuf";
import { shardOf } from "@flyte-ts/domain/name";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionEvent } from "@flyte-ts/idl/flytets/event/v1/event_pb";
import { DesiredState, TaskEventSchema, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createKubeClient, type KubeClient, type KubeObject, NAMESPACES } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import {
  API_VERSION,
  FLYTE_WORKFLOW_RESOURCE,
  KIND,
  type ParsedWorkflow,
  StatusTooNewError,
  WorkflowFormatError,
} from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { defaultEngineConfig } from "../../engine/config.js";
import { UNKNOWN_PLUGIN_HEALTH, type PluginHealth } from "../../engine/plugin-health.js";
import { buildWorkflow, type GraphSpec, type WorkflowSpec } from "../../../simulation/fixtures/workflow.js";
import type { CallHandlers } from "../calls/handlers.js";
import { Controller } from "./controller.js";
import { ensurePrerequisites } from "../cluster/ensure-prerequisites.js";
import { InvalidWorkflowError, WorkflowLoader } from "../load/load-workflow.js";
import { createMetrics } from "../metrics.js";
import { OutputsStore } from "../effects/outputs-store.js";
import { SliceStore } from "../status/slice-store.js";

const logger = createLogger({ service: "test", level: "silent" });
const unavailable = await kubernetesSkipReason();
const unused = () => Promise.reject(new Error("not used in this test"));
const blobs = { get: unused, put: unused, deleteAll: unused, list: () => ({ [Symbol.asyncIterator]: () => ({ next: unused }) }) };
const POLL = { timeout: 60_000, interval: 200 };

interface Stored extends KubeObject {
  readonly status?: WorkflowStatus;
}

describe.skipIf(unavailable)("on a real kube-apiserver", () => {
  let server: KubernetesFixture;
  let client: KubeClient;
  let controller: Controller;
  /** Specs that the loader finds in resources, by name. */
  const specs = new Map<string, WorkflowSpec>();
  /** Names of workflows that have become invalid. */
  const undecodable = new Set<string>();
  /** Transient read errors, by name. */
  const unavailable = new Map<string, Error>();
  const requests: string[] = [];
  const ALL_KNOWN: PluginHealth = { discoveryDone: true, available: new Set(["served", "sim"]), stale: new Map([["silent", 0]]) };
  let plugins = ALL_KNOWN;
  /** True while the bus stores requests. */
  let busWorks = true;
  const events: ExecutionEvent[] = [];

  /** Takes status and version from the real resource, and the graph from the test. */
  class Loader extends WorkflowLoader {
    override async load({ namespace = "", name }: { readonly namespace?: string | undefined; readonly name: string }) {
      const error = unavailable.get(name);
      if (error !== undefined) throw error;
      const resource = await client.get<Stored>(FLYTE_WORKFLOW_RESOURCE, { namespace, name });
      const spec = specs.get(name);
      if (resource !== undefined && undecodable.has(name)) {
        const broken = new WorkflowFormatError("spec.nodes", "must be an object, is 5");
        throw new InvalidWorkflowError(resource.metadata.resourceVersion ?? "", broken, { taskTypes: ["named"], maybeStarted: true });
      }
      if (resource === undefined || spec === undefined) return undefined;
      const parsed: ParsedWorkflow = buildWorkflow({ ...spec, name }, resource.status ?? { phase: 0 });
      return { ...parsed, resourceVersion: resource.metadata.resourceVersion ?? "" };
    }
  }

  beforeAll(async () => {
    server = await kubernetesFixture();
    client = await createKubeClient({ kubeconfig: server.kubeconfig });
    await ensurePrerequisites({ client, logger, createCrd: true, namespace: "flyte" });
    await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: "p-d" } });
    const slices = new SliceStore({ blobs, logger, sleep: () => Promise.resolve(), random: Math.random });
    controller = new Controller({
      client,
      bus: {
        publish: async (subject, data) => {
          if (!busWorks) throw new Error("no answer from the bus");
          const { desired, workflowKey, nodePath, owner } = fromBinary(TaskRequestSchema, data);
          const about = desired === DesiredState.ABORT_ALL ? `${subject.split(".")[2]} of ${owner?.uid}` : nodePath;
          requests.push(`${workflowKey} ${about} ${DesiredState[desired]}`);
        },
      },
      events: {
        publish: async (_, event) => {
          events.push(event);
        },
      },
      outputs: new OutputsStore(blobs),
      kubeEvents: { record: () => undefined },
      callHandlers: {} as CallHandlers,
      loader: new Loader(client, blobs, slices, "{{ project }}-{{ domain }}"),
      slices,
      engine: defaultEngineConfig(Math.random),
      metrics: createMetrics(),
      logger,
      namespace: undefined,
      namespaceTemplate: "{{ project }}-{{ domain }}",
      plugins: () => plugins,
      workers: 4,
      concurrency: { reads: 4, writes: 4 },
      resyncMs: 60_000,
      now: Date.now,
      random: Math.random,
      holdsShard: () => true,
    });
  }, 600_000);
  afterAll(async () => {
    await controller.stop();
    await client.close();
    await server.stop();
  });

  async function begin(name: string, spec: WorkflowSpec, status: WorkflowStatus): Promise<void> {
    specs.set(name, spec);
    const shard = shardOf(name);
    const labels = { "shard-key": String(shard), project: "p", domain: "d", "execution-id": name };
    const metadata = { namespace: "p-d", name, labels, finalizers: ["flyte.org/finalizer"] };
    await client.create(FLYTE_WORKFLOW_RESOURCE, { apiVersion: API_VERSION, kind: KIND, metadata, status } as KubeObject);
    (await controller.openShard(shard)).start();
  }
  const eventsOf = (name: string) =>
    events.filter(({ event }) => (event.case === "workflow" || event.case === "notice") && event.value.executionId?.name === name);

  const pair: WorkflowSpec = { main: { nodes: { n0: { kind: "task" }, n1: { kind: "task", inputs: { a: "n0.o0" } } } } };

  test("a workflow on which the engine fails ends with that error, its attempts are aborted, and others continue", async () => {
    const n0 = { phase: 5, stoppedAt: "2026-11-21T10:00:00Z", outputs: "////" };
    const n1 = { phase: 2, queuedAt: "2026-11-21T10:00:00Z", laStartedAt: "2026-11-21T10:00:00Z", TaskNodeStatus: { phase: 4 } };
    await begin("faulty", pair, { phase: 1, startedAt: "2026-11-21T10:00:00Z", nodeStatus: { "start-node": { phase: 5 }, n0, n1 } });
    await begin("healthy", pair, { phase: 0 });
    await vi.waitFor(() => expect(requests).toContain("p-d/healthy n0 RUN"), POLL);
    const ended = await vi.waitFor(async () => {
      const found = await client.get<Stored>(FLYTE_WORKFLOW_RESOURCE, { namespace: "p-d", name: "faulty" });
      expect(found?.status?.error).toMatchObject({ code: "EngineFault", kind: "SYSTEM" });
      return found;
    }, POLL);
    expect(ended?.status?.error?.message).toContain("the engine has failed 8 times in a row on this execution: ");
    expect(ended?.metadata.finalizers ?? []).toEqual([]);
    expect(ended?.metadata.labels?.["termination-status"]).toBe("terminated");
    await vi.waitFor(() => expect(requests).toContain("p-d/faulty n1 ABORT"), POLL);
    expect(requests.filter((text) => text.startsWith("p-d/faulty n0"))).toEqual([]);
    const last = eventsOf("faulty").at(-1)?.event;
    expect(last?.case === "workflow" && WorkflowExecution_Phase[last.value.phase]).toBe("FAILED");
  }, 120_000);

  test("a workflow with too many nodes in sub-workflows ends with a user error, and others continue", async () => {
    const graphs: Record<string, GraphSpec> = { g40: { nodes: { t: { kind: "task" } } } };
    for (let i = 0; i < 40; i++)
      graphs[`g${i}`] = { nodes: { a: { kind: "sub", graph: `g${i + 1}` }, b: { kind: "sub", graph: `g${i + 1}` } } };
    await begin("bomb", { main: { nodes: { n0: { kind: "sub", graph: "g0" } } }, graphs }, { phase: 0 });
    await begin("beside", pair, { phase: 0 });
    const ended = await vi.waitFor(async () => {
      const found = await client.get<Stored>(FLYTE_WORKFLOW_RESOURCE, { namespace: "p-d", name: "bomb" });
      expect(found?.status?.error).toMatchObject({ code: "WorkflowTooLarge", kind: "USER" });
      return found;
    }, POLL);
    expect(ended?.status?.error?.message).toMatch(/comes to \d+ node instances when its sub-workflows are expanded, the limit is 200000/);
    expect(ended?.metadata.finalizers ?? []).toEqual([]);
    await vi.waitFor(() => expect(requests).toContain("p-d/beside n0 RUN"), POLL);
    const last = eventsOf("bomb").at(-1)?.event;
    expect(last?.case === "workflow" && WorkflowExecution_Phase[last.value.phase]).toBe("FAILED");
  }, 120_000);

  const stored = (name: string) => client.get<Stored>(FLYTE_WORKFLOW_RESOURCE, { namespace: "p-d", name });

  test("a running workflow that is edited to an invalid state is read again at once, its attempts are aborted, and it fails", async () => {
    await begin("edited", pair, { phase: 0 });
    await vi.waitFor(() => expect(requests).toContain("p-d/edited n0 RUN"), POLL);
    // Once the started node is written, nothing triggers a reconcile.
    await vi.waitFor(async () => expect((await stored("edited"))?.status?.nodeStatus?.n0).toBeDefined(), POLL);
    const uid = (await stored("edited"))?.metadata.uid;
    undecodable.add("edited");
    busWorks = false;
    await client.mergePatch(FLYTE_WORKFLOW_RESOURCE, { namespace: "p-d", name: "edited", body: { spec: { nodes: 5 } } });
    const reasons = () => eventsOf("edited").flatMap(({ event }) => (event.case === "notice" ? [event.value.reason] : []));
    // The resource is not released while the requests are not stored.
    await vi.waitFor(() => expect(reasons().join()).toContain("no answer from the bus"), POLL);
    expect((await stored("edited"))?.metadata.finalizers).toEqual(["flyte.org/finalizer"]);
    busWorks = true;
    plugins = UNKNOWN_PLUGIN_HEALTH;
    const abortRequest = (taskType: string) => `p-d/edited ${taskType} of ${uid} ABORT_ALL`;
    await vi.waitFor(() => expect(requests.filter((request) => request === abortRequest("named")).length).toBeGreaterThan(1), POLL);
    expect((await stored("edited"))?.metadata.finalizers).toEqual(["flyte.org/finalizer"]);
    plugins = ALL_KNOWN;
    await vi.waitFor(async () => expect((await stored("edited"))?.metadata.finalizers ?? []).toEqual([]), POLL);
    expect(requests).toEqual(expect.arrayContaining(["named", "served", "silent"].map(abortRequest)));
    expect((await stored("edited"))?.status?.error).toMatchObject({ code: "BadWorkflowSpecification" });
  }, 120_000);

  test("labels set by another client do not cause a new read", async () => {
    await begin("labelled", pair, { phase: 0 });
    await vi.waitFor(async () => expect((await stored("labelled"))?.status?.nodeStatus?.n0).toBeDefined(), POLL);
    const before = requests.filter((request) => request.startsWith("p-d/labelled")).length;
    await client.mergePatch(FLYTE_WORKFLOW_RESOURCE, { namespace: "p-d", name: "labelled", body: { metadata: { labels: { team: "a" } } } });
    // The watch delivers changes in order, so the label change arrives before this resource.
    await begin("after", pair, { phase: 0 });
    await vi.waitFor(() => expect(requests).toContain("p-d/after n0 RUN"), POLL);
    expect(requests.filter((request) => request.startsWith("p-d/labelled"))).toHaveLength(before);
  }, 120_000);

  test("a resource that cannot be read waits, is reported once, and continues", async () => {
    unavailable.set("later", new Error("s3://bucket/closure: connection refused"));
    await begin("later", pair, { phase: 0 });
    const reasons = () => eventsOf("later").flatMap(({ event }) => (event.case === "notice" ? [event.value.reason] : []));
    await vi.waitFor(() => expect(reasons()).toHaveLength(1), POLL);
    expect(reasons()[0]).toMatch(/^the execution could not be loaded since \S+ and is retried with backoff: .*connection refused$/);
    // Events of its attempts do not stay in memory.
    const event = create(TaskEventSchema, { workflowKey: "p-d/later", nodePath: "n0" });
    for (let count = 0; count < 6_000; count++) controller.observe("p-d/later", { kind: "taskEvent", event });
    const capacity = controller.whenCapacity().then(() => "free");
    expect(await Promise.race([capacity, nextTurn().then(() => "full")])).toBe("free");
    unavailable.delete("later");
    await vi.waitFor(() => expect(requests).toContain("p-d/later n0 RUN"), POLL);
    await vi.waitFor(() => expect(reasons().slice(1)).toEqual([""]), POLL);
  }, 120_000);

  test("a resource whose status requires a newer build is left unchanged, reported once, and continues when it no longer does", async () => {
    unavailable.set("newer", new StatusTooNewError("status.requires is 9"));
    await begin("newer", pair, { phase: 1, requires: 9 });
    const reasons = () => eventsOf("newer").map(({ event }) => (event.case === "notice" ? event.value.reason : event.case));
    await vi.waitFor(() => expect(reasons()).toHaveLength(1), POLL);
    expect(reasons()[0]).toMatch(/^the execution has waited for a newer version of propeller since \S+: status.requires is 9$/);
    const found = await client.get<Stored>(FLYTE_WORKFLOW_RESOURCE, { namespace: "p-d", name: "newer" });
    expect([found?.status, found?.metadata.generation]).toEqual([{ phase: 1, requires: 9 }, 1]);
    unavailable.delete("newer");
    await vi.waitFor(() => expect(requests).toContain("p-d/newer n0 RUN"), POLL);
    expect(reasons().filter((reason) => reason === "")).toHaveLength(1);
  }, 120_000);
});
