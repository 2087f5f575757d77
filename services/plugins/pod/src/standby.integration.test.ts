import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, toBinary } from "@bufbuild/protobuf";
import { TASK_STREAM, taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { DesiredState, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { CONFIG_MAPS, createKubeClient, NAMESPACES, PODS } from "@flyte-ts/kubernetes";
import { connectBus } from "@flyte-ts/messaging";
import { collectTaskEvents, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { natsFixture } from "@flyte-ts/testing";
import { describe, expect, it, vi } from "vitest";

const program = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const clusterProgram = program("../../../local-cluster/dist/main.js");
const podProgram = program("../dist/main.js");
const namespace = "p-development";
const PATIENCE = { timeout: 30_000, interval: 50 };

interface Started {
  readonly process: ChildProcess;
  readonly said: (text: string) => boolean;
}

function start(main: string, args: readonly string[]): Started {
  let output = "";
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  return { process: child, said: (text) => output.includes(text) };
}

async function end({ process: child }: Started, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

describe.skipIf(!existsSync(clusterProgram) || !existsSync(podProgram))("two replicas on one data plane", () => {
  it("one replica is active, and the standby takes over its pods when it dies", async () => {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-standby-"));
    const kubeconfig = join(folder, "kubeconfig");
    const started = [start(clusterProgram, ["--dataDir", join(folder, "cluster"), "--kubeconfig", kubeconfig, "--podsOnStop", "kill"])];
    const nats = await natsFixture();
    const bus = await connectBus({ url: nats.url, name: "test", logger: createLogger({ service: "test", level: "silent" }) });
    try {
      await vi.waitUntil(() => existsSync(kubeconfig), PATIENCE);
      const client = await createKubeClient({ kubeconfig });
      for (const name of [namespace, "flyte"]) await client.create(NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
      const owner = await client.create(CONFIG_MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "owner", namespace } });
      const events = await collectTaskEvents(bus);
      // Creates the stream in place of propeller, since plugin services create none.
      await bus.ensureStream(TASK_STREAM);
      const config = join(folder, "pod.yaml");
      const lead = { enabled: true, leaseMs: 8_000 };
      writeFileSync(config, JSON.stringify({ nats: { url: nats.url }, kubernetes: { kubeconfig }, ops: { port: 0 }, lead }));
      const replicas = [start(podProgram, ["--config", config]), start(podProgram, ["--config", config])];
      started.push(...replicas);
      const serves = ({ said }: Started) => said("plugin service started");
      await vi.waitFor(
        () => expect([replicas.filter(serves).length, replicas.every(({ said }) => said("waiting for leadership"))]).toEqual([1, true]),
        PATIENCE,
      );

      const asked = sampleRequest("container", {
        generatedName: "w-n0-0",
        outputPrefix: `file://${folder}/data/0`,
        inputUri: `file://${folder}/data/inputs.pb`,
        desired: DesiredState.RUN,
      });
      if (asked.owner !== undefined)
        Object.assign(asked.owner, { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid });
      asked.template = create(TaskTemplateSchema, {
        id: { name: "work" },
        type: "container",
        target: { case: "container", value: { image: "local/image", command: ["sh", "-c", "sleep 4"] } },
      });
      await bus.publish(taskRequestSubject("container", asked.shard), toBinary(TaskRequestSchema, asked));
      const phases = () => events.map(({ event }) => event?.phase ?? 0);
      await vi.waitFor(() => expect(phases()).toContain(Phase.RUNNING), PATIENCE);
      expect(replicas.filter(({ said }) => said("leadership lost"))).toEqual([]);
      await end(replicas.find(serves) as Started, "SIGKILL");
      await vi.waitFor(() => expect(replicas.every(serves)).toBe(true), PATIENCE);
      await vi.waitFor(() => expect(phases()).toContain(Phase.SUCCEEDED), PATIENCE);
      expect(phases().filter((phase) => phase === Phase.FAILED || phase === Phase.ABORTED)).toEqual([]);
      expect((await client.list(PODS, { namespace })).items).toHaveLength(1);
      await client.close();
    } finally {
      await bus.close();
      for (const each of started.toReversed()) await end(each, "SIGTERM");
      await nats.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);
});
