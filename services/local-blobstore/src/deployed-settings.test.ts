import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { blobstoreConfig } from "./config.js";

// In `deploy/`, secrets come from environment variables.
const env = { FLYTE_TS_LOCAL_BLOBSTORE_ACCESS_KEY_ID: "flyte", FLYTE_TS_LOCAL_BLOBSTORE_SECRET_ACCESS_KEY: "secret-secret" };

test.each(deployedConfigs("blobs.yaml"))("the deployed settings of %s are valid", (_, argv) => {
  expect(() => loadConfig(blobstoreConfig, { service: "local-blobstore", argv, env })).not.toThrow();
});
