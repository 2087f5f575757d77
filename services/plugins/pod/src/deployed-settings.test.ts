import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { podServiceConfig } from "./config.js";

// In a deployment, environment variables provide the secrets.
const env = { FLYTE_TS_PLUGIN_POD_NATS__URL: "nats://nats" };

test.each(deployedConfigs("plugin-pod.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(podServiceConfig, { service: "plugin-pod", argv, env })).not.toThrow();
});
