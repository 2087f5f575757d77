import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { echoConfig } from "./config.js";

// In a deployment, environment variables provide the secrets.
const env = { FLYTE_TS_PLUGIN_ECHO_NATS__URL: "nats://nats" };

test.each(deployedConfigs("plugin-echo.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(echoConfig, { service: "plugin-echo", argv, env })).not.toThrow();
});
