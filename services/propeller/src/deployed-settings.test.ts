import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { propellerConfigSchema } from "./config.js";

// Deployments pass secrets in the environment.
const env = { FLYTE_TS_PROPELLER_SHARDS__SLOT: "flytepropeller-0", FLYTE_TS_PROPELLER_NATS__URL: "nats://nats" };

test.each(deployedConfigs("propeller.yaml"))("the settings of %s are such as it takes", (_, argv) => {
  expect(() => loadConfig(propellerConfigSchema, { service: "propeller", argv, env })).not.toThrow();
});
