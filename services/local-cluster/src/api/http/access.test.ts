import { statSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestCluster, testCluster } from "../../cluster.fixture.js";

const token = "the-token-of-the-whole-api";
const logToken = "the-token-of-logs-alone";

let k: TestCluster;
beforeAll(async () => {
  k = await testCluster({ access: "token", token, logToken });
  const spec = { containers: [{ name: "main", image: "i", env: [{ name: "KEY", value: "of-the-spec" }] }] };
  await k.call("POST", `/${token}/api/v1/namespaces/default/pods`, { body: { metadata: { name: "secretive" }, spec } });
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

test.each(["watch=1", "watch=true&follow=true", "watch=1&includeObject=Object", "watch=1&resourceVersion=0&sendInitialEvents=true"])(
  "the log token opens the log of a pod and not the pod, with the query %s",
  async (query) => {
    const answer = await k.text(`/${logToken}/api/v1/namespaces/default/pods/secretive/log?${query}&timeoutSeconds=1&container=none`);
    expect(answer).not.toContain("of-the-spec");
    expect(answer).not.toContain("ADDED");
    expect(JSON.parse(answer)).toMatchObject({ kind: "Status", code: 400 });
  },
);

test("a watch of a subresource is answered with the object", async () => {
  const path = `/${token}/api/v1/namespaces/default/status?watch=1`;
  expect(await k.call("GET", path)).toMatchObject({ status: 200, body: { kind: "Namespace" } });
});

test("other users of the machine cannot read the kubeconfig", () => {
  expect(statSync(k.cluster.kubeconfig).mode & 0o077).toBe(0);
});
