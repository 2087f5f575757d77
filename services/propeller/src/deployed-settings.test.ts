import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { propellerConfigSchema } from "./config.js";

// In a deployment, environment variables provide the secrets.
const env = { FLYTE_TS_PROPELLER_SHARDS__SLOT: "flytepropeller-0", FLYTE_TS_PROPELLER_NATS__URL: "nats://nats" };

test.each(deployedConfigs("propeller.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(propellerConfigSchema, { service: "propeller", argv, env })).not.toThrow();
});
