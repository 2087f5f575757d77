import { expect, test } from "vitest";
import { adminConfigSchema } from "./config.js";
import { adminHttpPolicy } from "./http-policy.js";

const policyOf = (config: object) => adminHttpPolicy(adminConfigSchema.parse(config));
const required = { mode: "required", publicUrl: "https://flyte.test", builtIn: {}, browser: { allowedOrigins: ["https://console.test/"] } };

function served(config: object, hosts: readonly string[]): string[] {
  const policy = policyOf(config);
  return hosts.filter((host) => policy.checkRequest({ headers: { host } }) === undefined);
}

const HOSTS = ["localhost", "10.0.0.1", "admin", "flyteadmin.flyte.svc", "flyte.test", "evil.example"];

test("the served host names follow from the address, the authentication and the configured list", () => {
  expect(served({}, HOSTS)).toEqual(["localhost"]);
  expect(served({ server: { allowedHosts: ["flyte.test"] } }, HOSTS)).toEqual(["localhost", "flyte.test"]);
  expect(served({ auth: required }, HOSTS)).toEqual(["localhost", "flyte.test"]);
  const open = { host: "0.0.0.0", openToNetwork: true };
  expect(served({ server: open }, HOSTS)).toEqual(["localhost", "10.0.0.1", "admin", "flyteadmin.flyte.svc"]);
  expect(served({ server: { ...open, allowedHosts: ["admin"] } }, HOSTS)).toEqual(["localhost", "10.0.0.1", "admin"]);
  expect(served({ server: { host: "0.0.0.0" }, auth: required }, HOSTS)).toEqual(HOSTS);
  expect(served({ server: { host: "0.0.0.0", allowedHosts: ["admin"] }, auth: required }, HOSTS)).toEqual([
    "localhost",
    "10.0.0.1",
    "admin",
    "flyte.test",
  ]);
});

test("only configured origins may call from other sites, by default none", () => {
  const may = (config: object, origin: string) =>
    policyOf(config).checkRequest({ method: "POST", headers: { host: "localhost", origin } }) === undefined;
  expect(may({}, "https://evil.example")).toBe(false);
  expect(may({}, "http://localhost")).toBe(true);
  expect(may({ server: { allowedOrigins: ["https://console.example.com"] } }, "https://console.example.com")).toBe(true);
  expect(may({ auth: required }, "https://flyte.test")).toBe(true);
  expect(may({ auth: required }, "https://console.test")).toBe(true);
  expect(may({ auth: required }, "https://evil.example")).toBe(false);
});

test("a wildcard and invalid origins are refused", () => {
  for (const origin of ["*", "console.example.com", "https://console.example.com/", "https://a.example/x", "null"])
    expect(adminConfigSchema.safeParse({ server: { allowedOrigins: [origin] } }).success, origin).toBe(false);
  for (const host of ["https://flyte.test", "flyte.test:80", "a b", "", "*.*"])
    expect(adminConfigSchema.safeParse({ server: { allowedHosts: [host] } }).success, host).toBe(false);
});
