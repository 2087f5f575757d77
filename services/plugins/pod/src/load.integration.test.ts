import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { toBinary } from "@bufbuild/protobuf";
import { TASK_STREAM, taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { CONFIG_MAPS, createKubeClient, type KubeClient, NAMESPACES, PODS } from "@flyte-ts/kubernetes";
import { type Bus, connectBus } from "@flyte-ts/messaging";
import { serviceNames } from "@flyte-ts/service-manifest";
import { collectTaskEvents } from "@flyte-ts/task-plugin/harness";
import {
  createAuditLog,
  kubernetesFixture,
  type KubernetesFixture,
  kubernetesSkipReason,
  memoryMib,
  natsFixture,
  type ServerFixture,
  startServiceProcess,
} from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { manifest } from "./manifest.js";
import { logger, outputs, podRequest } from "./simulation/pod-world.js";

// `OPERATORS=full`: as many pods as one service is promised to bear.
const isFull = process.env["OPERATORS"] === "full";
const PODS_UNDER_WAY = isFull ? 1_000 : 50;
const MEASURED_MS = isFull ? 120_000 : 4_000;
const MAX_CALLS_PER_POD_AND_MINUTE = 2;
const MAX_RSS_MIB = 150;
const NAMESPACE = "p-development";
const PROGRAM = fileURLToPath(new URL("../bundle/main.js", import.meta.url));
const PATIENCE = { timeout: 600_000, interval: 1_000 };
const canRun = process.platform === "linux" && existsSync(PROGRAM) && (await kubernetesSkipReason()) === undefined;

describe.skipIf(!canRun)(`${PODS_UNDER_WAY} pods under way`, { timeout: 1_500_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-pod-load-"));
  const audit = createAuditLog();
  let api: KubernetesFixture;
  let nats: ServerFixture;
  let bus: Bus;
  let client: KubeClient;
  let service: ChildProcess;
  let events: readonly TaskEvent[];
  let requests: readonly TaskRequest[];

  beforeAll(async () => {
    [api, nats] = await Promise.all([kubernetesFixture({ args: audit.apiArgs }), natsFixture()]);
    client = await createKubeClient({ kubeconfig: api.kubeconfig });
    bus = await connectBus({ url: nats.url, name: "test", logger });
    events = await collectTaskEvents(bus);
    // As propeller does: plugin services create no streams.
    await bus.ensureStream(TASK_STREAM);
    await client.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    const { metadata } = await client.create(CONFIG_MAPS, { metadata: { name: "owner", namespace: NAMESPACE } });
    const owner = { ...podRequest().owner, apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid } as TaskRequest["owner"];
    requests = Array.from({ length: PODS_UNDER_WAY }, (_, i) => {
      const data = `file://${folder}/data/${i}`;
      return podRequest({ generatedName: `load-${i}-n0-0`, owner, inputUri: `${data}/inputs.pb`, outputPrefix: `${data}/0` });
    });
    const config = join(folder, "pod.yaml");
    writeFileSync(
      config,
      JSON.stringify({
        nats: { url: nats.url },
        kubernetes: { kubeconfig: api.kubeconfig },
        ops: { port: 0 },
        logArchive: { enabled: false },
      }),
    );
    service = startServiceProcess(PROGRAM, ["--config", config]);
  }, 420_000);
  afterAll(async () => {
    service?.kill("SIGKILL");
    await bus?.close();
    await client?.close();
    await Promise.all([nats?.stop(), api?.stop()]);
    audit.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const calls = () => [...audit.callsOf(serviceNames(manifest).userAgent).values()].reduce((sum, count) => sum + count, 0);
  /** Calls for each pod during an action. */
  const callsPerPod = async (act: () => Promise<unknown>) => {
    const before = calls();
    await act();
    return (calls() - before) / PODS_UNDER_WAY;
  };
  const untilAll = (phase: Phase) =>
    vi.waitUntil(() => {
      const reached = events.filter(({ event }) => event?.phase === phase).map(({ event }) => event?.metadata?.generatedName);
      return new Set(reached).size >= PODS_UNDER_WAY;
    }, PATIENCE);
  /** Writes the status of every pod, as kubelets do. */
  const setStatus = async (phase: string, state: object) => {
    for (const { generatedName: name } of requests) {
      const status = { phase, containerStatuses: [{ name, image: "example/image:1", imageID: "", restartCount: 0, ready: false, state }] };
      await client.mergePatch(PODS, { namespace: NAMESPACE, name, body: { status }, subresource: "status" });
    }
  };
  const setRunning = () => setStatus("Running", { running: { startedAt: new Date().toISOString() } });

  it("need few calls to the Kubernetes API and little memory", async () => {
    const started = await callsPerPod(async () => {
      for (const request of requests) {
        const message = toBinary(TaskRequestSchema, { ...request, desired: DesiredState.RUN });
        await bus.publish(taskRequestSubject("python-task", request.shard), message);
      }
      await untilAll(Phase.QUEUED);
      await setRunning();
      await untilAll(Phase.RUNNING);
    });
    const underWay = await callsPerPod(async () => {
      await sleep(MEASURED_MS / 2);
      await setRunning();
      await sleep(MEASURED_MS / 2);
    });
    const rssUnderWay = memoryMib(service.pid ?? 0, "VmRSS");
    const ended = await callsPerPod(async () => {
      for (const { outputPrefix } of requests) {
        mkdirSync(fileURLToPath(outputPrefix), { recursive: true });
        writeFileSync(fileURLToPath(`${outputPrefix}/outputs.pb`), outputs);
      }
      await setStatus("Succeeded", { terminated: { exitCode: 0, reason: "Completed", finishedAt: new Date().toISOString() } });
      await untilAll(Phase.SUCCEEDED);
    });
    const peak = memoryMib(service.pid ?? 0, "VmHWM");
    const perMinute = (underWay * 60_000) / MEASURED_MS;
    const rates = `calls a pod ${started} to start, ${perMinute} a minute under way, ${ended} to end`;
    const figures = `${PODS_UNDER_WAY} pods: ${rates}; RSS ${rssUnderWay} MiB under way, ${peak} at most`;
    process.stderr.write(`${figures}\n`);
    // A creation, and no second one.
    expect(started, figures).toBeLessThan(2);
    expect(perMinute, figures).toBeLessThanOrEqual(MAX_CALLS_PER_POD_AND_MINUTE);
    expect(ended, figures).toBeLessThan(1);
    expect(peak, figures).toBeLessThanOrEqual(MAX_RSS_MIB);
  });
});
