import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestCluster, testCluster } from "../../cluster.fixture.js";

let k: TestCluster;
const NS = "/api/v1/namespaces/default";

beforeAll(async () => {
  k = await testCluster();
});
afterAll(() => k.stop());

const pod = (name: string, resources: object) => ({
  body: {
    metadata: { name },
    spec: { restartPolicy: "Never", containers: [{ name: "main", image: "i", command: ["sleep", "600"], resources }] },
  },
});

test("a pod over the quota is refused with the message that Flyte recognizes", async () => {
  await k.call("POST", `${NS}/resourcequotas`, {
    body: { metadata: { name: "project-quota" }, spec: { hard: { "limits.cpu": "4", "limits.memory": "3Gi", pods: 3 } } },
  });
  expect((await k.call("POST", `${NS}/pods`, pod("a", { limits: { cpu: "3", memory: "1Gi" } }))).status).toBe(201);
  expect(await k.call("POST", `${NS}/pods`, pod("b", { limits: { cpu: "2", memory: "4Gi" } }))).toMatchObject({
    status: 403,
    body: {
      reason: "Forbidden",
      message:
        'pods "b" is forbidden: exceeded quota: project-quota, requested: limits.cpu=2,limits.memory=4Gi, used: limits.cpu=3,limits.memory=1Gi, limited: limits.cpu=4,limits.memory=3Gi',
    },
  });
  expect(await k.call("POST", `${NS}/pods`, pod("c", {}))).toMatchObject({
    status: 403,
    body: { message: 'pods "c" is forbidden: failed quota: project-quota: must specify limits.cpu for: main; limits.memory for: main' },
  });
  expect(await k.call("POST", `${NS}/pods`, pod("a", { limits: { cpu: "3", memory: "1Gi" } }))).toMatchObject({ status: 409 });
});

test("usage is shown in the status, and deleted pods release it", async () => {
  const used = async () => ((await k.call("GET", `${NS}/resourcequotas/project-quota`)).body["status"] as { used: unknown }).used;
  for (let i = 0; i < 1_500 && JSON.stringify(await used()) !== '{"limits.cpu":"3","limits.memory":"1Gi","pods":"1"}'; i++) await delay(20);
  expect(await used()).toEqual({ "limits.cpu": "3", "limits.memory": "1Gi", pods: "1" });
  await k.call("DELETE", `${NS}/pods/a?gracePeriodSeconds=0`);
  expect((await k.call("POST", `${NS}/pods`, pod("d", { limits: { cpu: "4", memory: "1Gi" } }))).status).toBe(201);
});

test("limit ranges supply defaults of a pod", async () => {
  await k.call("POST", "/api/v1/namespaces", { body: { metadata: { name: "ranged" } } });
  const limits = [{ type: "Container", default: { cpu: "1" }, defaultRequest: { cpu: "500m" }, max: { cpu: "2" } }];
  await k.call("POST", "/api/v1/namespaces/ranged/limitranges", { body: { metadata: { name: "l" }, spec: { limits } } });
  const { body } = await k.call("POST", "/api/v1/namespaces/ranged/pods", pod("x", {}));
  expect(body["spec"]).toMatchObject({ containers: [{ resources: { limits: { cpu: "1" }, requests: { cpu: "500m" } } }] });
  expect((await k.call("POST", "/api/v1/namespaces/ranged/pods", pod("y", { limits: { cpu: "3" } }))).body.message).toBe(
    'pods "y" is forbidden: maximum cpu usage per Container is 2, but limit is 3',
  );
});

test.each([
  { what: "no containers", spec: { containers: [] }, text: "spec.containers: Required value" },
  { what: "no image", spec: { containers: [{ name: "a" }] }, text: "spec.containers[0].image: Required value" },
  {
    what: "two containers with one name",
    spec: {
      containers: [
        { name: "a", image: "i" },
        { name: "a", image: "i" },
      ],
    },
    text: 'spec.containers[1].name: Duplicate value: "a"',
  },
  {
    what: "an unknown volume",
    spec: { containers: [{ name: "a", image: "i", volumeMounts: [{ name: "v", mountPath: "/v" }] }] },
    text: 'spec.containers[0].volumeMounts[0].name: Not found: "v"',
  },
  {
    what: "a broken quantity",
    spec: { containers: [{ name: "a", image: "i", resources: { limits: { cpu: "lots" } } }] },
    text: "quantities must match",
  },
  {
    what: "a request over its limit",
    spec: { containers: [{ name: "a", image: "i", resources: { limits: { cpu: "1" }, requests: { cpu: "2" } } }] },
    text: 'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
  },
  {
    what: "an unknown restart policy",
    spec: { restartPolicy: "Sometimes", containers: [{ name: "a", image: "i" }] },
    text: 'Unsupported value: "Sometimes"',
  },
])("a pod with $what is invalid", async ({ spec, text }) => {
  const { status, body } = await k.call("POST", "/api/v1/namespaces/ranged/pods", { body: { metadata: { name: "bad" }, spec } });
  expect([status, body.reason]).toEqual([422, "Invalid"]);
  expect(body.message).toContain(text);
});
