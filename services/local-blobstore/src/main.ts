import { resolve } from "node:path";
import { loadServiceConfig } from "@flyte-ts/config";
import { onShutdown, Readiness, startIdleGc, startOpsServer } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { blobstoreConfig } from "./config.js";
import { startBlobstore } from "./server.js";
import { describeDiskFull, isDiskFull } from "./store/disk-space.js";

installSourceMapSupport();
// Restricts object files to the user of this service.
process.umask(0o077);
const config = loadServiceConfig(blobstoreConfig, "local-blobstore", process);
const logger = createLogger({ service: "local-blobstore", level: config.logLevel });
const metrics = new Metrics();
const { dataDir, host, port, buckets, accessKeyId, secretAccessKey, allowedHosts, allowedOrigins } = config;
const server = await startBlobstore({
  dataDir: resolve(dataDir),
  host,
  port,
  buckets,
  allowedHosts,
  allowedOrigins,
  credentials: { accessKeyId, secretAccessKey },
  logger,
  metrics,
  clock: () => new Date(),
}).catch((error: unknown) => {
  const text = error instanceof Error ? error.message : String(error);
  logger.fatal({ error: isDiskFull(error) ? describeDiskFull(error, resolve(dataDir)) : text }, "cannot start");
  process.exit(1);
});
const readiness = new Readiness({
  now: () => performance.now(),
  // A full disk does not recover within a grace period, so readiness reports it at once.
  graceMs: 0,
  checks: { disk: () => server.problem() },
});
const ops = await startOpsServer({ ...config.ops, metrics, readiness });
readiness.serving();
logger.info({ host, port: server.port, dataDir }, "listening");

startIdleGc();
onShutdown(
  async () => {
    readiness.stopping();
    await server.close();
    await ops.close();
  },
  { logger },
);
