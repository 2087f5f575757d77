import type { JsonObject } from "@bufbuild/protobuf";
import { KubeError, type KubeObject } from "@flyte-ts/kubernetes";
import { applyMergePatch, FINALIZER, hasOnlyUpdateManagers } from "@flyte-ts/workflow-crd";
import { expect, test } from "vitest";
import { patchConditionally } from "./conditional-patch.js";

type Resource = KubeObject & { readonly status?: Record<string, unknown> };

const plain = (value: object) => JSON.parse(JSON.stringify(value)) as JsonObject;

/**
 * One resource with the API server's rules: versions count all changes, the generation those beyond
 * metadata.
 */
class OneResource {
  object: Resource = { metadata: { name: "w", resourceVersion: "1", generation: 1, finalizers: [FINALIZER] }, status: {} };
  reads = 0;
  /** Runs before each patch arrives. */
  before: () => void = () => undefined;

  change(patch: object): void {
    const { metadata } = this.object;
    const changed = applyMergePatch(plain(this.object), plain(patch)) as unknown as Resource;
    const same = JSON.stringify({ ...changed, metadata }) === JSON.stringify({ ...this.object, metadata });
    const resourceVersion = String(Number(metadata.resourceVersion) + 1);
    this.object = {
      ...changed,
      metadata: { ...changed.metadata, resourceVersion, generation: (metadata.generation ?? 0) + (same ? 0 : 1) },
    };
  }

  get base() {
    const { resourceVersion = "", generation } = this.object.metadata;
    return { resourceVersion, generation };
  }

  readonly client = {
    get: <T>() => {
      this.reads++;
      return Promise.resolve(this.object as T);
    },
    mergePatch: <T>(_: unknown, { body }: { body: object }) => {
      this.before();
      const { resourceVersion } = (body as KubeObject).metadata;
      if (resourceVersion !== this.object.metadata.resourceVersion) throw new KubeError("changed", { status: 409, reason: "Conflict" });
      this.change(body);
      return Promise.resolve(this.object as T);
    },
  };
}

const name = { namespace: "n", name: "w" };
const mayWrite = () => true;

test("changes of metadata by other clients are kept, and the status is written on top", async () => {
  const store = new OneResource();
  const { base } = store;
  store.change({ metadata: { annotations: { a: "1" } } });
  store.change({ metadata: { annotations: { b: "2" }, finalizers: ["other", FINALIZER] } });
  const patch = { metadata: { labels: { done: "yes" }, finalizers: null }, status: { phase: 3 } };
  expect(await patchConditionally(store.client, { name, patch, base, mayWrite })).toMatchObject({
    resourceVersion: "4",
    generation: 2,
  });
  expect(store.object).toMatchObject({
    metadata: { annotations: { a: "1", b: "2" }, labels: { done: "yes" }, finalizers: ["other"] },
    status: { phase: 3 },
  });
});

test("a concurrent deletion request is not a conflict, unless the status changed as well", async () => {
  const store = new OneResource();
  const { base } = store;
  const deletion = () => {
    const { metadata } = store.object;
    store.object = {
      ...store.object,
      metadata: { ...metadata, deletionTimestamp: "2026-01-01T00:00:00Z", generation: metadata.generation! + 1 },
    };
    store.change({ metadata: { annotations: { a: "1" } } });
  };
  deletion();
  const patch = { status: { phase: 3 } };
  const after = await patchConditionally(store.client, { name, patch, base, mayWrite });
  expect(after).toMatchObject({ generation: 3, deletionRequested: true });
  // The deletion explains only one increment of the generation.
  store.change({ status: { phase: 4 } });
  await expect(patchConditionally(store.client, { name, patch, base: after, mayWrite })).rejects.toMatchObject({ status: 409 });
  const another = new OneResource();
  another.change({ status: { phase: 2 } });
  await expect(patchConditionally(another.client, { name, patch, base, mayWrite })).rejects.toMatchObject({ status: 409 });
});

test("a changed status is a conflict, and so is a write without the lease", async () => {
  const store = new OneResource();
  const { base } = store;
  const patch = { status: { phase: 3 } };
  store.change({ metadata: { annotations: { a: "1" } } });
  await expect(patchConditionally(store.client, { name, patch, base, mayWrite: () => false })).rejects.toMatchObject({ status: 409 });
  store.change({ status: { phase: 2 } });
  await expect(patchConditionally(store.client, { name, patch, base, mayWrite })).rejects.toMatchObject({ status: 409 });
  expect(store.object.status).toEqual({ phase: 2 });
});

test("a resource that changes constantly is given up after a number of attempts", async () => {
  const store = new OneResource();
  store.before = () => store.change({ metadata: { annotations: { a: String(Math.random()) } } });
  await expect(
    patchConditionally(store.client, { name, patch: { status: { phase: 3 } }, base: store.base, mayWrite }),
  ).rejects.toMatchObject({
    status: 409,
  });
  expect(store.reads).toBeLessThan(20);
});

test("the first write removes managed fields, unless a client applies the resource", async () => {
  for (const [operation, left] of [
    ["Update", [{}]],
    ["Apply", [{ operation: "Apply" }]],
  ] as const) {
    const store = new OneResource();
    store.object.metadata.managedFields = [{ operation }];
    const read = store.client.get<Resource>().then(({ metadata }) => hasOnlyUpdateManagers(metadata.managedFields));
    const base = { ...store.base, hasManagedFields: await read };
    const after = await patchConditionally(store.client, { name, patch: { status: { phase: 1 } }, base, mayWrite });
    expect(store.object.metadata.managedFields).toEqual(left);
    expect(after.hasManagedFields).toBe(false);
  }
});
