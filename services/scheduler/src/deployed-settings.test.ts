import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { schedulerConfigSchema } from "./config.js";

test.each(deployedConfigs("scheduler.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(schedulerConfigSchema, { service: "scheduler", argv, env: {} })).not.toThrow();
});
