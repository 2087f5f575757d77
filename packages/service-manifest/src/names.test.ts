import { expect, test } from "vitest";
import { serviceNames } from "./names.js";

test("every name of a service derives from its id", () => {
  expect(serviceNames({ id: "plugin-web-api" })).toEqual({
    kubernetes: "flyte-plugin-web-api",
    image: "plugin-web-api",
    helm: "pluginWebApi",
    envPrefix: "FLYTE_TS_PLUGIN_WEB_API_",
    userAgent: "flyte-ts-plugin-web-api",
  });
});

test("names that clients depend on are in the manifest", () => {
  expect(serviceNames({ id: "admin", kubernetes: { name: "flyteadmin" } }).kubernetes).toBe("flyteadmin");
  expect(serviceNames({ id: "local-cluster", image: { name: "cluster" } }).image).toBe("cluster");
});
