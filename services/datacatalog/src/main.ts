import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { createBlobStore } from "@flyte-ts/blobstore";
import { loadServiceConfig } from "@flyte-ts/config";
import { createHttpPolicy } from "@flyte-ts/http-policy";
import { createPool, checkDatabase, ensureDatabase, taskFailures, waitForDatabase } from "@flyte-ts/postgres";
import { callLog, callMetrics, createRpcServer } from "@flyte-ts/rpc";
import { startPeriodic } from "@flyte-ts/async";
import { onShutdown, Readiness, startIdleGc, startOpsServer } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { datacatalogConfigSchema } from "./config.js";
import { catalogLimits } from "./request-limits.js";
import { pruneReservations } from "./reservation/prune.js";
import { datacatalogServices, mapInfrastructureErrors } from "./server.js";

const PRUNE_EVERY_MS = 600_000;

installSourceMapSupport();
const config = loadServiceConfig(datacatalogConfigSchema, "datacatalog", process);
const logger = createLogger({ service: "datacatalog", level: config.logLevel });
const metrics = new Metrics();
const { url, maxConnections } = config.database;
const db = createPool({ url, maxConnections, applicationName: "flyte-ts datacatalog", logger });
const readiness = new Readiness({ now: () => performance.now(), checks: { database: () => checkDatabase(db) } });
readiness.starting("waiting for the database");
const ops = await startOpsServer({ ...config.ops, metrics, readiness });

const directory = config.database.migrations ?? fileURLToPath(new URL("../migrations", import.meta.url));
await waitForDatabase(async () => {
  await ensureDatabase(url);
  await db.migrate({ directory, logger });
}, logger);
const blobs = createBlobStore(config.storage);
const { host, grpcPort, maxMessageBytes, allowedHosts, allowedOrigins } = config.server;
const guard = config.auth.mode === "required" ? (await import("./access.js")).catalogGuard(config.auth, () => new Date()) : undefined;
const server = createRpcServer({
  logger,
  services: datacatalogServices({ config, db, blobs, logger, metrics, uuid: randomUUID }),
  interceptors: [callMetrics(metrics, "datacatalog"), callLog(logger), mapInfrastructureErrors],
  ...(guard && { authorizeHttp: guard.authorizeHttp, guard }),
  limits: catalogLimits(maxMessageBytes),
  httpPolicy: createHttpPolicy({ listenAddress: host, allowedHosts, allowedOrigins }),
});
guard?.requireComplete(server);
const { port } = await server.listen({ host, port: grpcPort });
const pruning = startPeriodic(
  {
    name: "pruning of reservations",
    intervalMs: PRUNE_EVERY_MS,
    batchSize: 5_000,
    run: (limit) => pruneReservations(db, limit),
    errorMessage: "expired reservations could not be deleted; retrying",
  },
  taskFailures(db, logger),
);
readiness.serving();
logger.info({ host, port, opsPort: ops.port }, "datacatalog is ready");

startIdleGc();
onShutdown(
  async () => {
    readiness.stopping();
    await server.drain(config.server.drain);
    await pruning.close();
    blobs.close();
    await db.close();
    await ops.close();
  },
  { logger },
);
