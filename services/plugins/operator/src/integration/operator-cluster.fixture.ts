import { systemTime } from "@flyte-ts/async";
import { MemoryBus, MemoryStore } from "@flyte-ts/task-plugin/harness";
import { runPlugin } from "@flyte-ts/task-plugin";
import { controllerSettings, operatorServiceConfig } from "../config.js";
import { JobController } from "../controller/job-controller.js";
import { operatorPlugin } from "../plugin.js";
import type { AttemptChannel } from "./attempt.fixture.js";
import { logger, startTestCluster, type TestCluster } from "./test-cluster.fixture.js";

/** Settings that make waits short. */
const SETTINGS = { nats: { url: "" }, graces: { imagePullBackOffMs: 0 }, discoveryIntervalMs: 1_000, operatorTimeoutMs: 2_000 };

/** No earlier process has created jobs of this cluster. */
const CREATION_SETTLES_WITHIN_MS = 2_000;

/** A cluster and the plugin, which runs in this process. */
export interface OperatorCluster extends TestCluster, AttemptChannel {
  readonly controller: JobController;
}

/** Starts a cluster without controllers: the test starts them when all kinds exist. */
export async function startOperatorCluster(): Promise<OperatorCluster> {
  const cluster = await startTestCluster({ controllers: false });
  const { client } = cluster;
  const bus = new MemoryBus();
  const store = new MemoryStore();
  const config = operatorServiceConfig.parse(SETTINGS);
  const controller = new JobController({
    ...controllerSettings(config),
    config: config.pods,
    client,
    store,
    clock: systemTime,
    logger,
    creationSettlesWithinMs: CREATION_SETTLES_WITHIN_MS,
  });
  const plugin = await runPlugin({ plugin: operatorPlugin(controller), bus, logger, clock: systemTime });
  return {
    ...cluster,
    controller,
    dataUri: "s3://bucket",
    get events() {
      return bus.events;
    },
    publish: (subject, data) => bus.send(subject, data),
    write: (uri, bytes) => void store.blobs.set(uri, bytes),
    stop: async () => {
      await plugin.stop();
      await cluster.stop();
    },
  };
}
