import { create, toBinary } from "@bufbuild/protobuf";
import { systemTime } from "@flyte-ts/async";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import {
  CONFIG_MAPS,
  createKubeClient,
  CUSTOM_RESOURCE_DEFINITIONS,
  type KubeClient,
  type KubeObject,
  NAMESPACES,
  PODS,
} from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { MemoryStore } from "@flyte-ts/pod-task/harness";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { DASK_DEFINITIONS, findDaskOperator, startDaskOperator } from "@flyte-ts/test-servers";
import { kubernetesFixture, type KubernetesFixture, kubernetesSkipReason, testWatchdog } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { controllerSettings, operatorServiceConfig } from "../config.js";
import { JobController } from "../controller/job-controller.js";
import { operatorPlugin } from "../plugin.js";
import { OUTPUTS } from "../simulation/operator-world.js";
import { jobRequest } from "../simulation/sample-requests.js";

// The operator and the Kubernetes API are real; the test simulates the kubelet.
const logger = createLogger({ service: "test", level: "silent" });
const config = operatorServiceConfig.parse({ nats: { url: "" }, taskTypes: ["dask"], graces: { imagePullBackOffMs: 0 } });
const namespace = "p-development";
const PATIENCE = { timeout: 120_000, interval: 100 };

/** Returns a Python with the operator; undefined on a machine that cannot run it. */
async function findOperator(): Promise<string | undefined> {
  try {
    return (await kubernetesSkipReason()) === undefined ? await findDaskOperator() : undefined;
  } catch (error) {
    process.stderr.write(`skipped, no Dask operator: ${(error as Error).message}\n`);
    return undefined;
  }
}

const python = await findOperator();

describe.skipIf(python === undefined)("DaskJobs of the real operator", () => {
  const bus = new MemoryBus();
  const store = new MemoryStore();
  let kubernetes: KubernetesFixture;
  let dask: Awaited<ReturnType<typeof startDaskOperator>>;
  let client: Awaited<ReturnType<typeof createKubeClient>>;
  let running: RunningPlugin;
  let ownerUid: string;

  const request = (name: string): TaskRequest => {
    const sample = jobRequest("dask", undefined, { generatedName: `${name}-n0-0`, outputPrefix: `s3://b/${name}/0` });
    if (sample.owner !== undefined) Object.assign(sample.owner, { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: ownerUid });
    return sample;
  };
  const send = (asked: TaskRequest, desired: DesiredState, over: Partial<TaskRequest> = {}) =>
    bus.send(
      taskRequestSubject("dask", asked.shard),
      toBinary(TaskRequestSchema, create(TaskRequestSchema, { ...asked, ...over, desired })),
    );
  const eventsOf = ({ generatedName }: TaskRequest) => bus.events.filter(({ event }) => event?.metadata?.generatedName === generatedName);
  const until = (asked: TaskRequest, phase: Phase) =>
    vi.waitFor(() => {
      const found = eventsOf(asked).find(({ event }) => event?.phase === phase);
      const told = eventsOf(asked).map(({ event }) => `${Phase[event?.phase ?? 0]} ${event?.reason}`);
      expect(found, told.join("; ")).toBeDefined();
      return found;
    }, PATIENCE);
  /** Simulates the kubelet of the runner's pod. */
  const playRunner = async ({ generatedName }: TaskRequest, status: object) => {
    const name = `${generatedName}-runner`;
    await vi.waitFor(async () => expect(await client.get<Pod>(PODS, { namespace, name })).toBeDefined(), PATIENCE);
    await client.mergePatch(PODS, { namespace, name, body: { status }, subresource: "status" });
    return name;
  };
  const remaining = async (api: KubeClient) => {
    const { items } = await api.list<KubeObject>(PODS, { namespace, labelSelector: "flyte.org/job" });
    return items.map(({ metadata }) => metadata.name);
  };

  beforeAll(async () => {
    kubernetes = await kubernetesFixture({ controllers: true });
    client = await createKubeClient({ kubeconfig: kubernetes.kubeconfig });
    for (const definition of DASK_DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    await client.create(NAMESPACES, { metadata: { name: namespace } });
    ownerUid = (await client.create(CONFIG_MAPS, { metadata: { name: "owner", namespace } })).metadata.uid ?? "";
    await vi.waitUntil(async () => (await client.findResource("kubernetes.dask.org/v1", "DaskJob")) !== undefined, PATIENCE);
    dask = await startDaskOperator({ python: python ?? "", kubeconfig: kubernetes.kubeconfig, watchdog: testWatchdog() });
    const controller = new JobController({ ...controllerSettings(config), config: config.pods, client, store, clock: systemTime, logger });
    running = await runPlugin({ plugin: operatorPlugin(controller), bus, logger, clock: systemTime });
  }, 420_000);

  afterAll(async () => {
    await running?.stop();
    await dask?.kill();
    await client?.close();
    await kubernetes?.stop();
  });

  it("runs to its end, and leaves nothing when it is finalized", async () => {
    const asked = request("good");
    await send(asked, DesiredState.RUN);
    await until(asked, Phase.INITIALIZING);
    const runner = await playRunner(asked, {
      phase: "Running",
      containerStatuses: [{ name: "job-runner", ready: true, state: { running: {} } }],
    });
    const event = await until(asked, Phase.RUNNING);
    await vi.waitFor(() => {
      const resources = eventsOf(asked)
        .at(-1)
        ?.event?.metadata?.externalResources.map(({ externalId }) => externalId);
      expect(resources).toContain(runner);
    }, PATIENCE);
    expect(event?.event?.metadata?.pluginIdentifier).toBe("dask");
    store.blobs.set(`${asked.outputPrefix}/outputs.pb`, OUTPUTS);
    await playRunner(asked, { phase: "Succeeded" });
    expect((await until(asked, Phase.SUCCEEDED))?.outputs?.literals.o0?.hash).toBe("out");
    await send(asked, DesiredState.FINALIZE, { deleteResources: true });
    await vi.waitFor(async () => expect(await remaining(client)).toEqual([]), PATIENCE);
  }, 300_000);

  it("fails soon for an image that cannot be pulled, and is gone by then", async () => {
    const asked = request("image");
    await send(asked, DesiredState.RUN);
    const lastTransitionTime = new Date().toISOString();
    await playRunner(asked, {
      phase: "Pending",
      conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady", message: "unready", lastTransitionTime }],
      containerStatuses: [
        { name: "job-runner", ready: false, state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } } },
      ],
    });
    const end = await until(asked, Phase.FAILED);
    expect(end?.event?.outputResult).toMatchObject({ value: { code: "ContainersNotReady|ImagePullBackOff" } });
    expect(await remaining(client)).toEqual([]);
  }, 300_000);

  it("is gone when its abort is reported", async () => {
    const asked = request("stopped");
    await send(asked, DesiredState.RUN);
    await playRunner(asked, { phase: "Running", containerStatuses: [{ name: "job-runner", ready: true, state: { running: {} } }] });
    await until(asked, Phase.RUNNING);
    await send(asked, DesiredState.ABORT);
    await until(asked, Phase.ABORTED);
    expect(await remaining(client)).toEqual([]);
  }, 300_000);
});
