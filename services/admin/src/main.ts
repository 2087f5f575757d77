import { fileURLToPath } from "node:url";
import { createBlobStore } from "@flyte-ts/blobstore";
import { loadConfig } from "@flyte-ts/config";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { connectBus } from "@flyte-ts/messaging";
import { createPool } from "@flyte-ts/postgres";
import { createRpcServer, type RpcServer } from "@flyte-ts/rpc";
import { createLogger, Metrics, onShutdown, startOpsServer } from "@flyte-ts/telemetry";
import { adminConfigSchema } from "./config.js";
import type { AdminDeps } from "./deps.js";
import { seedProjects } from "./project/rpc.js";
import { adminServices, databaseTrouble } from "./server.js";

const config = loadConfig(adminConfigSchema, { service: "admin", argv: process.argv.slice(2), env: process.env });
const logger = createLogger({ service: "admin", level: config.logLevel });
const metrics = new Metrics();
let ready = false;

const db = createPool({
  url: config.database.url,
  maxConnections: config.database.maxConnections,
  applicationName: "flyte-ts admin",
  logger,
});
const ops = await startOpsServer({
  ...config.ops,
  metrics,
  notReady: () => (ready ? undefined : "starting"),
});
await db.migrate({ directory: config.database.migrations ?? fileURLToPath(new URL("../migrations", import.meta.url)), logger });
const bus = await connectBus({ url: config.nats.url, name: "admin", logger });
const deps: AdminDeps = {
  config,
  db,
  bus,
  blobs: createBlobStore(config.storage),
  clusters: await Promise.all(
    config.clusters.map(async ({ name, weight, kubeconfig, context }) => ({
      name,
      weight,
      kube: await createKubeClient(kubeconfig === undefined ? { inCluster: true } : { kubeconfig, context }),
    })),
  ),
  logger,
  metrics,
  clock: () => new Date(),
  random: Math.random,
};
await seedProjects(deps);
const build = { version: "0.1.0", revision: "unknown", time: new Date().toISOString() };
const services = adminServices(deps, build);
const { host, grpcPort, httpPort, maxMessageBytes } = config.server;
const servers: RpcServer[] = [];
for (const port of new Set([grpcPort, httpPort])) {
  const server = createRpcServer({ logger, services, interceptors: [databaseTrouble], maxMessageBytes });
  const address = await server.listen({ host, port });
  logger.info({ host, port: address.port }, "listening");
  servers.push(server);
}
ready = true;

onShutdown(
  async () => {
    ready = false;
    await Promise.all(servers.map((server) => server.drain()));
    await bus.close();
    await db.close();
    await ops.close();
  },
  { logger },
);
