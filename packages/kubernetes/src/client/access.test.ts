import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { loadAccess } from "./access.js";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "access-"));
  writeFileSync(join(folder, "token"), "renewed\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

function load(cluster: object, user: object) {
  const kubeconfig = join(folder, "config");
  const contexts = [{ name: "here", context: { cluster: "c", user: "u" } }];
  const clusters = [{ name: "c", cluster: { server: "https://h", ...cluster } }];
  writeFileSync(kubeconfig, stringify({ "current-context": "here", contexts, clusters, users: [{ name: "u", user }] }));
  return loadAccess({ kubeconfig });
}

test.each([
  ["a token", { token: "t" }, "Bearer t"],
  ["a token file, which precedes a token", { token: "t", tokenFile: "token" }, "Bearer renewed"],
  ["a name and a password", { username: "ann", password: "secret" }, `Basic ${Buffer.from("ann:secret").toString("base64")}`],
  ["no credentials", {}, undefined],
])("a kubeconfig with %s authorizes requests", async (_, user, header) => {
  expect(await (await load({}, user)).authorization()).toBe(header);
});

test("a kubeconfig with a proxy is refused, as requests would not use it", async () => {
  await expect(load({ "proxy-url": "http://proxy:3128" }, { token: "t" })).rejects.toThrow("proxy-url of cluster c is not supported");
});
