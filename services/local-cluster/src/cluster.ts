import { randomInt, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { isLoopback } from "@flyte-ts/config";
import { createHttpPolicy } from "@flyte-ts/http-policy";
import { type Logger, Metrics } from "@flyte-ts/telemetry";
import { STORAGE } from "./api/type/built-in-types.js";
import type { ApiContext } from "./api/context.js";
import { createHandler } from "./api/http/handler.js";
import { startServer } from "./api/http/server.js";
import { TypeRegistry } from "./api/type/type-registry.js";
import { bootstrap } from "./bootstrap.js";
import type { Config } from "./config.js";
import { lockDataDir } from "./data-lock.js";
import { DefinitionController } from "./gc/definition-controller.js";
import { expireEvents } from "./gc/event-expiry.js";
import { NamespaceController } from "./gc/namespace-controller.js";
import { GarbageCollector } from "./gc/garbage-collector.js";
import { QuotaUsageController } from "./gc/quota-usage-controller.js";
import { type NodeDescription, nodeObject } from "./kubelet/node/node-object.js";
import { servePodLog } from "./kubelet/pod/pod-log.js";
import { describeNode, podsDir, startKubelet } from "./kubelet/start-kubelet.js";
import { type KubeObject, withMeta } from "./object/model.js";
import { countStarts, registerMetrics } from "./metrics.js";
import { readOrCreateToken } from "./access-token.js";
import { writeKubeconfig } from "./kubeconfig.js";
import { storePodSource } from "./store-pod-source.js";
import { describeDiskError } from "./store/disk-errors.js";
import { openStore } from "./store/persistent-store.js";

export interface Cluster {
  readonly port: number;
  readonly kubeconfig: string;
  /** Stops serving; running pods are kept or killed as configured. */
  close(): Promise<void>;
  /** Kills pods synchronously where `podsOnStop` is `kill`, for a process that is exiting. */
  killPodsNow(): void;
}

export interface ClusterOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** Called when the process must exit because its memory holds writes that the disk rejected. */
  readonly fatal: (error: Error) => void;
  readonly now: () => number;
  /** Path of python/fork_server.py. */
  readonly forkServerProgram: string;
}

const EVENT_EXPIRY_INTERVAL_MS = 30_000;

/** Starts the store, the controllers, the kubelet and the API server. */
export async function startCluster({ config: options, logger, fatal, now, forkServerProgram }: ClusterOptions): Promise<Cluster> {
  // Pods have other working directories, so paths must be absolute.
  const config = { ...options, dataDir: resolve(options.dataDir) };
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const unlock = await lockDataDir(config.dataDir);
  const storeFolder = join(config.dataDir, "store");
  const persistent = await openStore({
    folder: storeFolder,
    fail: (error) => fatal(new Error(describeDiskError(error, storeFolder), { cause: error })),
    onFull: (error) => {
      if (error === undefined) logger.info({ folder: storeFolder }, "the disk has free space again, writes resume");
      else logger.error({ folder: storeFolder, error: describeDiskError(error, storeFolder) }, "the disk is full, writes wait");
    },
    onSnapshotFailed: (error) =>
      logger.warn({ folder: storeFolder, error: describeDiskError(error, storeFolder) }, "snapshot failed, the logs are kept"),
  });
  const notWritable = () => (persistent.full === undefined ? undefined : describeDiskError(persistent.full, storeFolder));
  if (persistent.droppedBytes > 0) logger.warn({ bytes: persistent.droppedBytes }, "dropped a truncated log record");
  const { store } = persistent;
  const context: ApiContext = {
    store,
    types: new TypeRegistry(store),
    now,
    newUid: randomUUID,
    randomSuffix,
    maxObjectBytes: config.maxObjectBytes,
  };
  await bootstrap(context);
  const onError = (error: unknown) =>
    logger.error({ error: String(error), stack: error instanceof Error ? error.stack : undefined }, "internal error");
  const controllers = [
    new GarbageCollector(context, onError),
    new NamespaceController(context, onError),
    new DefinitionController(context, onError),
    new QuotaUsageController(context),
  ];
  const expiry = setInterval(() => expireEvents(context, config.eventTTL * 1000), EVENT_EXPIRY_INTERVAL_MS);

  const node = describeNode(config, now());
  putNode(context, node);
  const podsFolder = podsDir(config.dataDir);
  const pods = storePodSource(context);
  const metrics = new Metrics();
  const onStart = countStarts(metrics);
  const kubelet = startKubelet({ pods, config, node, dataDir: config.dataDir, logger, forkServerProgram, bindPods: true, onStart });

  const token = config.access === "token" ? (config.token ?? readOrCreateToken(join(config.dataDir, "token"))) : undefined;
  if (!isLoopback(config.host) && token === undefined)
    throw new Error(`host ${config.host} is not loopback: set access to token, because this API starts processes`);
  const allowedHosts = config.allowedHosts ?? (config.advertisedHost === undefined ? undefined : [config.advertisedHost]);
  const handler = createHandler({
    metrics,
    context,
    access: { token, logToken: config.logToken, policy: createHttpPolicy({ listenAddress: config.host, allowedHosts }) },
    maxRequestBytes: config.maxRequestBytes,
    notReady: notWritable,
    podLog: (pod, query, response) => servePodLog({ podsFolder, pods }, { pod: pod.object, query, response }),
    onError,
  });
  registerMetrics(metrics, { store, watches: () => handler.watches, pods: () => kubelet.workers });
  const server = await startServer(handler, config);
  const kubeconfig = config.kubeconfig ?? join(config.dataDir, "kubeconfig");
  writeKubeconfig(kubeconfig, { host: config.advertisedHost ?? config.host, port: server.port, token });
  return {
    port: server.port,
    kubeconfig,
    close: async () => {
      clearInterval(expiry);
      await server.close();
      await kubelet.close(config.podsOnStop);
      for (const controller of controllers) controller.close();
      await persistent.close();
      unlock();
    },
    killPodsNow: () => {
      if (config.podsOnStop === "kill") kubelet.killNow();
    },
  };
}

/** Registers this machine as node; keeps the identity of an existing node. */
function putNode(context: ApiContext, description: NodeDescription): void {
  const node = nodeObject(description);
  const known = context.store.get({ resource: STORAGE.nodes, namespace: "", name: description.name })?.object;
  const { uid = context.newUid(), creationTimestamp = node.metadata.creationTimestamp } = known?.metadata ?? {};
  context.store.put(STORAGE.nodes, withMeta(node, { uid, creationTimestamp } as Partial<KubeObject["metadata"]>));
}

/** Generates a suffix from letters and digits that form no words. */
function randomSuffix(length: number): string {
  const alphabet = "bcdfghjklmnpqrstvwxz2456789";
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}
