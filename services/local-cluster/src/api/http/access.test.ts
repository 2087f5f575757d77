import { statSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestCluster, testCluster } from "../../cluster.fixture.js";

const token = "the-token-of-the-whole-api";
const logToken = "the-token-of-logs-alone";

let k: TestCluster;
beforeAll(async () => {
  k = await testCluster({ access: "token", token, logToken });
});
afterAll(async () => {
  await k.stop();
});

test.each(["", "/another-token", `/${logToken}`])(
  "without the token, objects cannot be listed, written or deleted (prefix %j)",
  async (prefix) => {
    const pods = `${prefix}/api/v1/namespaces/default/pods`;
    expect((await k.call("GET", pods)).status).toBe(401);
    expect((await k.call("POST", pods, { body: { metadata: { name: "p" } } })).status).toBe(401);
    expect((await k.call("DELETE", `${prefix}/api/v1/namespaces/default`)).status).toBe(401);
    expect((await k.call("GET", `${prefix}/api/v1/namespaces/default/pods/p/status`)).status).toBe(401);
  },
);

test("the token permits the API, and the log token only logs", async () => {
  expect((await k.call("GET", `/${token}/api/v1/namespaces/default/pods`)).status).toBe(200);
  // The pod does not exist, but the caller is authorized.
  expect((await k.call("GET", `/${logToken}/api/v1/namespaces/default/pods/p/log`)).status).toBe(404);
  expect((await k.call("GET", "/api/v1/namespaces/default/pods/p/log")).status).toBe(401);
});

test("other users of the machine cannot read the kubeconfig", () => {
  expect(statSync(k.cluster.kubeconfig).mode & 0o077).toBe(0);
});
