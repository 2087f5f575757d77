import { fileURLToPath } from "node:url";
import { loadServiceConfig } from "@flyte-ts/config";
import { onShutdown } from "@flyte-ts/lifecycle";
import { createLogger, installSourceMapSupport } from "@flyte-ts/telemetry";
import { nodeRunnerConfig } from "./config.js";
import { startNodeRunner } from "./node-runner.js";

installSourceMapSupport();
// Restricts files of this service and its pods to their user.
process.umask(0o077);
const config = loadServiceConfig(nodeRunnerConfig, "node-runner", process);
const logger = createLogger({ service: "node-runner", level: config.logLevel });
try {
  const runner = await startNodeRunner({
    config,
    logger,
    now: Date.now,
    forkServerProgram: fileURLToPath(new URL("../../python/fork_server.py", import.meta.url)),
  });
  const stop = () => {
    // Runs at every exit after a requested shutdown, including one by a second signal. After any
    // other exit, such as a crash, the next process adopts the pods.
    process.once("exit", () => runner.killPodsNow());
    return runner.close();
  };
  onShutdown(stop, { logger });
  logger.info({ node: config.nodeName }, "ready");
} catch (error) {
  logger.fatal({ error: error instanceof Error ? error.message : String(error) }, "cannot start");
  process.exit(1);
}
