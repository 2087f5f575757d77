import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { datacatalogConfigSchema } from "./config.js";

test.each(deployedConfigs("datacatalog.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(datacatalogConfigSchema, { service: "datacatalog", argv, env: {} })).not.toThrow();
});
