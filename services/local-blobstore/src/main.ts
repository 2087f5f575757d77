import { loadConfig } from "@flyte-ts/config";
import { createLogger, Metrics, onShutdown, returnMemory, startOpsServer } from "@flyte-ts/telemetry";
import { blobstoreConfig } from "./config.js";
import { startBlobstore } from "./server.js";

const config = loadConfig(blobstoreConfig, { service: "local-blobstore", argv: process.argv.slice(2), env: process.env });
const logger = createLogger({ service: "local-blobstore", level: config.logLevel });
const metrics = new Metrics();
const { dataDir, host, port, buckets, accessKeyId, secretAccessKey } = config;
const server = await startBlobstore({
  dataDir,
  host,
  port,
  buckets,
  credentials: { accessKeyId, secretAccessKey },
  logger,
  metrics,
  clock: () => new Date(),
});
const ops = await startOpsServer({ ...config.ops, metrics, notReady: () => undefined });
logger.info({ host, port: server.port, dataDir }, "serving blobs");

returnMemory();
onShutdown(
  async () => {
    await server.close();
    await ops.close();
  },
  { logger },
);
