import { loadConfig } from "@flyte-ts/config";
import { deployedConfigs } from "@flyte-ts/testing";
import { expect, test } from "vitest";
import { webApiConfig } from "./config.js";
import { manifest } from "./manifest.js";
import { routesOf } from "./routes.js";

// In a deployment, environment variables provide the secrets.
const env = { FLYTE_TS_PLUGIN_WEB_API_NATS__URL: "nats://nats" };
const load = (argv: readonly string[] = []) => loadConfig(webApiConfig, { service: manifest.id, argv, env });

test.each(deployedConfigs("plugin-web-api.yaml"))("the settings of %s are such as it takes", (_, argv) => {
  expect(() => load(argv)).not.toThrow();
});

test("no task type is served until an API is configured, and Trino takes presto from Athena", () => {
  expect(routesOf(load())).toEqual(new Map());
  const athena = ["--athena", "{}"];
  expect([...routesOf(load(athena))]).toEqual([
    ["presto", "athena"],
    ["hive", "athena"],
  ]);
  const all = load([...athena, "--trino", '{"endpoint":"http://trino:8080"}', "--batch", "{}", "--bigquery", "{}"]);
  expect(routesOf(all).get("presto")).toBe("trino");
  expect([...routesOf(all).keys()].sort()).toEqual([...manifest.taskTypes].sort());
});
