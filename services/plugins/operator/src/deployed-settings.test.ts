import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { operatorServiceConfig } from "./config.js";

// In a deployment, environment variables provide the secrets.
const env = { FLYTE_TS_PLUGIN_OPERATOR_NATS__URL: "nats://nats" };

test.each(deployedConfigs("plugin-operator.yaml"))("the settings of %s are such as it takes", (_, argv) => {
  expect(() => loadConfig(operatorServiceConfig, { service: "plugin-operator", argv, env })).not.toThrow();
});
