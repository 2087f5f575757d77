import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FLYTE_DEFINITION, FLYTE_PATH, type TestCluster, testCluster, workflow } from "../cluster.fixture.js";
import type { JsonObject, KubeObject } from "../object/model.js";

let k: TestCluster;
const CM = "/api/v1/namespaces/default/configmaps";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

beforeAll(async () => {
  k = await testCluster();
  await k.call("POST", CRDS, { body: FLYTE_DEFINITION });
});
afterAll(() => k.stop());

/** Owner reference as Flyte writes it, with the kind in lower case. */
const owner = ({ metadata }: KubeObject): JsonObject => ({
  apiVersion: "flyte.lyft.com/v1alpha1",
  kind: "flyteworkflow",
  name: metadata.name,
  uid: metadata.uid,
  controller: true,
  blockOwnerDeletion: true,
});

const create = async (name: string, more: JsonObject = {}) =>
  (await k.call("POST", FLYTE_PATH, { body: { ...workflow(name), metadata: { name, ...more } } })).body;
const owned = async (name: string, owners: readonly KubeObject[], more: JsonObject = {}) =>
  k.call("POST", CM, { body: { metadata: { name, ownerReferences: owners.map(owner), ...more } } });

/** Polls the status of a path until it is the expected one or a timeout. */
async function settled(path: string, wanted: number): Promise<number> {
  let seen = 0;
  for (let i = 0; i < 3_000 && seen !== wanted; i++) {
    if (i > 0) await delay(10);
    seen = (await k.call("GET", path)).status;
  }
  return seen;
}

test("dependents are deleted with their owner through several levels", async () => {
  const top = await create("top");
  await owned("child", [top]);
  const child = (await k.call("GET", `${CM}/child`)).body;
  await owned("grandchild", [child]);
  await k.call("DELETE", `${FLYTE_PATH}/top`);
  expect(await settled(`${CM}/child`, 404)).toBe(404);
  expect(await settled(`${CM}/grandchild`, 404)).toBe(404);
});

test("an object is kept while one of its owners exists", async () => {
  const [a, b] = [await create("a"), await create("b")];
  await owned("both", [a, b]);
  await k.call("DELETE", `${FLYTE_PATH}/a`);
  for (let i = 0; i < 3_000 && (await k.call("GET", `${CM}/both`)).body.metadata.ownerReferences?.length !== 1; i++) await delay(10);
  expect((await k.call("GET", `${CM}/both`)).body.metadata.ownerReferences).toEqual([owner(b)]);
  await k.call("DELETE", `${FLYTE_PATH}/b`);
  expect(await settled(`${CM}/both`, 404)).toBe(404);
});

test("an owner that does not exist or is in another namespace is ignored", async () => {
  await owned("stray", [{ ...(await create("real")), metadata: { name: "ghost", uid: "00000000-0000-0000-0000-000000000000" } }]);
  expect(await settled(`${CM}/stray`, 404)).toBe(404);
  await k.call("POST", "/api/v1/namespaces", { body: { metadata: { name: "elsewhere" } } });
  const real = (await k.call("GET", `${FLYTE_PATH}/real`)).body;
  await k.call("POST", "/api/v1/namespaces/elsewhere/configmaps", { body: { metadata: { name: "far", ownerReferences: [owner(real)] } } });
  expect(await settled("/api/v1/namespaces/elsewhere/configmaps/far", 404)).toBe(404);
});

test("orphaned dependents are kept", async () => {
  const parent = await create("parent");
  await owned("orphan", [parent]);
  await k.call("DELETE", `${FLYTE_PATH}/parent`, { body: { propagationPolicy: "Orphan" } });
  expect(await settled(`${FLYTE_PATH}/parent`, 404)).toBe(404);
  expect((await k.call("GET", `${CM}/orphan`)).body.metadata.ownerReferences).toBeUndefined();
});

test("foreground deletion deletes the owner last", async () => {
  const parent = await create("front");
  await owned("slow", [parent], { finalizers: ["a.b/c"] });
  const deleted = await k.call("DELETE", `${FLYTE_PATH}/front`, { body: { propagationPolicy: "Foreground" } });
  expect(deleted.body.metadata.finalizers).toEqual(["foregroundDeletion"]);
  for (let i = 0; i < 3_000 && (await k.call("GET", `${CM}/slow`)).body.metadata.deletionTimestamp === undefined; i++) await delay(10);
  expect((await k.call("GET", `${FLYTE_PATH}/front`)).status).toBe(200);
  await k.call("PATCH", `${CM}/slow`, { type: "application/merge-patch+json", body: { metadata: { finalizers: null } } });
  expect(await settled(`${CM}/slow`, 404)).toBe(404);
  expect(await settled(`${FLYTE_PATH}/front`, 404)).toBe(404);
});

test("a deleted namespace deletes its contents, rejects new objects and waits for finalizers", async () => {
  await k.call("POST", "/api/v1/namespaces", { body: { metadata: { name: "doomed" } } });
  const path = "/api/v1/namespaces/doomed/configmaps";
  expect(await settled("/api/v1/namespaces/doomed/serviceaccounts/default", 200)).toBe(200);
  await k.call("POST", path, { body: { metadata: { name: "plain" } } });
  await k.call("POST", path, { body: { metadata: { name: "held", finalizers: ["a.b/c"] } } });
  const deleted = await k.call("DELETE", "/api/v1/namespaces/doomed");
  expect(deleted.body["status"]).toEqual({ phase: "Terminating" });
  expect(await settled(`${path}/plain`, 404)).toBe(404);
  expect(await k.call("POST", path, { body: { metadata: { name: "late" } } })).toMatchObject({
    status: 403,
    body: {
      reason: "Forbidden",
      message: expect.stringContaining("because it is being terminated"),
      details: { causes: [{ reason: "NamespaceTerminating" }] },
    },
  });
  await k.call("PATCH", `${path}/held`, { type: "application/merge-patch+json", body: { metadata: { finalizers: null } } });
  expect(await settled("/api/v1/namespaces/doomed", 404)).toBe(404);
});

test("the deletion of a resource definition deletes its objects", async () => {
  await create("instance");
  await k.call("DELETE", `${CRDS}/flyteworkflows.flyte.lyft.com`);
  expect(await settled(`${CRDS}/flyteworkflows.flyte.lyft.com`, 404)).toBe(404);
  expect(await settled(FLYTE_PATH, 404)).toBe(404);
  await k.call("POST", CRDS, { body: FLYTE_DEFINITION });
  expect((await k.call("GET", FLYTE_PATH)).body.items).toEqual([]);
});
