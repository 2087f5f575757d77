import { randomBytes, randomInt, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "@flyte-ts/telemetry";
import type { ApiContext } from "./api/context.js";
import { createHandler } from "./api/handler.js";
import { startServer } from "./api/server.js";
import { TypeRegistry } from "./api/type-registry.js";
import { bootstrap } from "./bootstrap.js";
import type { Config } from "./config.js";
import { lockDataDir } from "./data-lock.js";
import { DefinitionController } from "./gc/definitions.js";
import { expireEvents } from "./gc/event-expiry.js";
import { NamespaceController } from "./gc/namespaces.js";
import { OwnerCollector } from "./gc/owners.js";
import { QuotaUsage } from "./gc/quota-usage.js";
import { writeKubeconfig } from "./kubeconfig.js";
import { openStore } from "./store/persistent-store.js";

export interface Cluster {
  readonly port: number;
  readonly kubeconfig: string;
  /** Stops serving; pods keep running or end, as configured. */
  close(): Promise<void>;
}

export interface ClusterOptions {
  readonly config: Config;
  readonly logger: Logger;
  /** The process cannot go on: its memory is ahead of the disk. */
  readonly fatal: (error: Error) => void;
  readonly now: () => number;
}

const EXPIRY_MS = 30_000;

/** Starts the store, its controllers, the pods and the API. */
export async function startCluster({ config, logger, fatal, now }: ClusterOptions): Promise<Cluster> {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const unlock = lockDataDir(config.dataDir);
  const persistent = await openStore({ folder: join(config.dataDir, "store"), fail: fatal });
  if (persistent.droppedBytes > 0) logger.warn({ bytes: persistent.droppedBytes }, "dropped a write that a crash had cut off");
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
    new OwnerCollector(context, onError),
    new NamespaceController(context, onError),
    new DefinitionController(context, onError),
    new QuotaUsage(context),
  ];
  const expiry = setInterval(() => expireEvents(context, config.eventTTL * 1000), EXPIRY_MS);

  const token = config.access === "token" ? readToken(join(config.dataDir, "token")) : undefined;
  const loopback = /^(localhost|127\.|::1$)/.test(config.host);
  if (!loopback && token === undefined)
    throw new Error(`host ${config.host} is not loopback: set access: token, since whoever reaches the port can start processes`);
  const handler = createHandler({
    context,
    access: { token, loopback },
    maxRequestBytes: config.maxRequestBytes,
    notReady: () => undefined,
    podLog: async () => {},
    onError,
  });
  const server = await startServer(handler, config);
  const kubeconfig = config.kubeconfig ?? join(config.dataDir, "kubeconfig");
  writeKubeconfig(kubeconfig, { host: config.host, port: server.port, token });
  return {
    port: server.port,
    kubeconfig,
    close: async () => {
      clearInterval(expiry);
      await server.close();
      for (const controller of controllers) controller.close();
      await persistent.close();
      unlock();
    },
  };
}

/** Letters and digits of generated names, without those that form words. */
function randomSuffix(length: number): string {
  const alphabet = "bcdfghjklmnpqrstvwxz2456789";
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join("");
}

function readToken(path: string): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(24).toString("hex"), { mode: 0o600 });
  return readFileSync(path, "utf8").trim();
}
