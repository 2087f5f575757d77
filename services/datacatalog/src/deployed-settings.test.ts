import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { datacatalogConfigSchema } from "./config.js";

test.each(deployedConfigs("datacatalog.yaml"))("the settings of %s are such as it takes", (_, argv) => {
  expect(() => loadConfig(datacatalogConfigSchema, { service: "datacatalog", argv, env: {} })).not.toThrow();
});
