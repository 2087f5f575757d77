import { loadConfig } from "@flyte-ts/config";
import { createLogger, onShutdown, returnMemory } from "@flyte-ts/telemetry";
import { startCluster } from "./cluster.js";
import { configSchema } from "./config.js";

const config = loadConfig(configSchema, { service: "local-cluster", argv: process.argv.slice(2), env: process.env });
const logger = createLogger({ service: "local-cluster", level: config.logLevel });
try {
  const cluster = await startCluster({
    config,
    logger,
    now: Date.now,
    fatal: (error) => {
      logger.fatal({ error: error.message }, "the data folder cannot be written");
      process.exit(1);
    },
  });
  returnMemory();
  onShutdown(() => cluster.close(), { logger });
  logger.info({ host: config.host, port: cluster.port, kubeconfig: cluster.kubeconfig }, "ready");
} catch (error) {
  logger.fatal({ error: error instanceof Error ? error.message : String(error) }, "cannot start");
  process.exit(1);
}
