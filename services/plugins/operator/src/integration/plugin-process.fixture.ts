import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { TASK_STREAM } from "@flyte-ts/bus-contract";
import { connectBus } from "@flyte-ts/messaging";
import { collectTaskEvents } from "@flyte-ts/task-plugin/harness";
import { natsFixture, startServiceProcess } from "@flyte-ts/testing";
import type { AttemptChannel } from "./attempt.fixture.js";
import { logger, startTestCluster, type TestCluster } from "./test-cluster.fixture.js";

/** Exists after a build. */
export const PLUGIN_PROGRAM = fileURLToPath(new URL("../../bundle/main.js", import.meta.url));

/** A cluster, a NATS server, and the plugin service as a process that can be killed. */
export interface PluginProcess extends TestCluster, AttemptChannel {
  /** Starts the service; resolves without waiting until it serves. */
  start(): void;
  /** Id of the service's process. */
  pid(): number;
  /** Kills the service, as in a crash. */
  kill(): Promise<void>;
}

export interface PluginProcessOptions {
  /** Further flags of kube-apiserver. */
  readonly apiArgs?: readonly string[];
  /** Settings of the service. Default: short waits. */
  readonly settings?: object;
}

const SHORT_WAITS = { discoveryIntervalMs: 1_000, graces: { imagePullBackOffMs: 0 } };

export async function startPluginProcess(
  taskTypes: readonly string[],
  { apiArgs, settings = SHORT_WAITS }: PluginProcessOptions = {},
): Promise<PluginProcess> {
  const cluster = await startTestCluster({ apiArgs });
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-operator-"));
  const nats = await natsFixture();
  const bus = await connectBus({ url: nats.url, name: "test", logger });
  const events = await collectTaskEvents(bus);
  // As propeller does: plugin services create no streams.
  await bus.ensureStream(TASK_STREAM);
  const config = join(folder, "operator.yaml");
  const { kubeconfig } = cluster.api;
  writeFileSync(config, JSON.stringify({ nats: { url: nats.url }, kubernetes: { kubeconfig }, ops: { port: 0 }, taskTypes, ...settings }));
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child?.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  };
  return {
    ...cluster,
    events,
    dataUri: `file://${folder}/data`,
    publish: (subject, data) => bus.publish(subject, data),
    write: (uri, bytes) => {
      const path = fileURLToPath(uri);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, bytes);
    },
    start: () => {
      child = startServiceProcess(PLUGIN_PROGRAM, ["--config", config]);
    },
    pid: () => child?.pid ?? 0,
    kill,
    stop: async () => {
      await kill();
      await bus.close();
      await nats.stop();
      await cluster.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
