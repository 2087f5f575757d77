import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { adminConfigSchema } from "./config.js";

// In `deploy/`, secrets come from environment variables.
const env = { FLYTE_TS_ADMIN_DATABASE__URL: "postgresql://flyte:secret@postgres/flyteadmin", FLYTE_TS_ADMIN_NATS__URL: "nats://nats" };

test.each(deployedConfigs("admin.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(adminConfigSchema, { service: "admin", argv, env })).not.toThrow();
});
