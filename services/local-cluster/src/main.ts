import { fileURLToPath } from "node:url";
import { loadServiceConfig } from "@flyte-ts/config";
import { onShutdown, startIdleGc } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport } from "@flyte-ts/telemetry";
import { startCluster } from "./cluster.js";
import { configSchema } from "./config.js";
import { describeDiskError, isDiskFull } from "./store/disk-errors.js";

installSourceMapSupport();
// Restricts files of this service and its pods to their user.
process.umask(0o077);
const config = loadServiceConfig(configSchema, "local-cluster", process);
const logger = createLogger({ service: "local-cluster", level: config.logLevel });
try {
  const cluster = await startCluster({
    config,
    logger,
    now: Date.now,
    forkServerProgram: fileURLToPath(new URL("../python/fork_server.py", import.meta.url)),
    fatal: (error) => {
      logger.fatal({ error: error.message }, "the store cannot be written, exiting");
      process.exit(1);
    },
  });
  startIdleGc();
  const stop = () => {
    // Runs at every exit after a requested shutdown, including one by a second signal. After any
    // other exit, such as a crash, the next process adopts the pods.
    process.once("exit", () => cluster.killPodsNow());
    return cluster.close();
  };
  onShutdown(stop, { logger });
  logger.info({ host: config.host, port: cluster.port, kubeconfig: cluster.kubeconfig }, "ready");
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  logger.fatal({ error: isDiskFull(error) ? describeDiskError(error, config.dataDir) : text }, "cannot start");
  process.exit(1);
}
