import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { connectorConfig } from "./config.js";

// In a deployment, environment variables provide the secrets.
const env = {
  FLYTE_TS_PLUGIN_CONNECTOR_NATS__URL: "nats://nats",
  FLYTE_TS_PLUGIN_CONNECTOR_STORAGE__S3__ACCESS_KEY_ID: "id",
  FLYTE_TS_PLUGIN_CONNECTOR_STORAGE__S3__SECRET_ACCESS_KEY: "secret",
  FLYTE_TS_PLUGIN_CONNECTOR_LEAD__NAMESPACE: "flyte",
};

test.each(deployedConfigs("plugin-connector.yaml"))("the settings of %s are such as it takes", (_, argv) => {
  expect(() => loadConfig(connectorConfig, { service: "plugin-connector", argv, env })).not.toThrow();
});
