import { serviceConfig } from "@flyte-ts/config";
import { createLogger, mapStacks, Metrics, onShutdown, Readiness, returnMemory, startOpsServer } from "@flyte-ts/telemetry";
import { blobstoreConfig } from "./config.js";
import { startBlobstore } from "./server.js";

mapStacks();
// Objects are files: they belong to the user of this service alone.
process.umask(0o077);
const config = serviceConfig(blobstoreConfig, "local-blobstore", process);
const logger = createLogger({ service: "local-blobstore", level: config.logLevel });
const metrics = new Metrics();
const { dataDir, host, port, buckets, accessKeyId, secretAccessKey, allowedHosts, allowedOrigins } = config;
const server = await startBlobstore({
  dataDir,
  host,
  port,
  buckets,
  allowedHosts,
  allowedOrigins,
  credentials: { accessKeyId, secretAccessKey },
  logger,
  metrics,
  clock: () => new Date(),
});
const readiness = new Readiness({ now: () => performance.now() });
const ops = await startOpsServer({ ...config.ops, metrics, readiness });
readiness.serving();
logger.info({ host, port: server.port, dataDir }, "serving blobs");

returnMemory();
onShutdown(
  async () => {
    readiness.stopping();
    await server.close();
    await ops.close();
  },
  { logger },
);
