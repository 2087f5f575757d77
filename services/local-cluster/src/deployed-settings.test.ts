import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { configSchema } from "./config.js";

test.each(deployedConfigs("cluster.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(configSchema, { service: "local-cluster", argv, env: {} })).not.toThrow();
});
