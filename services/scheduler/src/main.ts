import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { systemTime } from "@flyte-ts/async";
import { loadServiceConfig } from "@flyte-ts/config";
import { createPool, checkDatabase, ensureDatabase, waitForDatabase } from "@flyte-ts/postgres";
import { clientCredentials } from "@flyte-ts/auth";
import { openChannel } from "@flyte-ts/rpc";
import { onShutdown, Readiness, startIdleGc, startOpsServer } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport, Metrics } from "@flyte-ts/telemetry";
import { createAdminClient } from "./admin-client.js";
import { schedulerConfigSchema } from "./config.js";
import { registerGauges, schedulerMetrics } from "./metrics.js";
import { createWatermarkStore } from "./watermark-store.js";
import { Scheduler } from "./scheduler.js";

installSourceMapSupport();
const config = loadServiceConfig(schedulerConfigSchema, "scheduler", process);
const logger = createLogger({ service: "scheduler", level: config.logLevel });
const metrics = new Metrics();
const { url, maxConnections } = config.database;
const db = createPool({ url, maxConnections, applicationName: "flyte-ts scheduler", logger });
const channel = openChannel({
  endpoint: config.admin.endpoint,
  deadlineMs: config.admin.timeoutMs,
  ...clientCredentials(config.admin.endpoint, config.admin.auth, () => new Date()),
});
const scheduler = new Scheduler({
  config,
  admin: createAdminClient({ channel, logger }),
  watermarks: createWatermarkStore({ db, replica: randomUUID(), claimMs: config.claimMs }),
  clock: systemTime,
  random: Math.random,
  metrics: schedulerMetrics(metrics),
  logger,
});
registerGauges(metrics, {
  schedules: () => scheduler.schedules,
  overdueMs: () => scheduler.overdueMs,
  listAgeMs: () => scheduler.listAgeMs,
});
const readiness = new Readiness({
  now: () => performance.now(),
  checks: { schedules: () => scheduler.problem, database: () => checkDatabase(db) },
});
readiness.starting("waiting for the database");
const ops = await startOpsServer({
  ...config.ops,
  metrics,
  readiness,
});

const directory = config.database.migrations ?? fileURLToPath(new URL("../migrations", import.meta.url));
await waitForDatabase(async () => {
  await ensureDatabase(url);
  await db.migrate({ directory, logger });
}, logger);
scheduler.start();
readiness.serving();
logger.info({ opsPort: ops.port }, "scheduler is ready");

startIdleGc();
onShutdown(
  async () => {
    readiness.stopping();
    await scheduler.stop();
    channel.close();
    await db.close();
    await ops.close();
  },
  { logger },
);
