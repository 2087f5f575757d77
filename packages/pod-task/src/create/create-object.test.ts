import { ManualTime } from "@flyte-ts/async/manual-time";
import { create } from "@bufbuild/protobuf";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { KubeError, type KubeObject, type ResourceRef } from "@flyte-ts/kubernetes";
import { PermanentFailure, RetryableFailure, RetryLater } from "@flyte-ts/task-plugin";
import { MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { beforeEach, describe, expect, it } from "vitest";
import { buildPodSpec } from "../build/build-pod-spec.js";
import { objectMeta } from "../build/object-meta.js";
import type { BuildPodOptions } from "../build/pod-config.js";
import type { PodSpec } from "../pod-types.js";
import { podSettings } from "../settings.js";
import { decodeAttemptAnnotation } from "./attempt-annotation.js";
import { createAttemptObject } from "./create-object.js";
import { buildWithPrerequisites } from "./create-pod.js";
import { UnsettledCreations } from "./unsettled-creations.js";

const RAY_JOBS: ResourceRef = { group: "ray.io", version: "v1", plural: "rayjobs", namespaced: true };
const creations = new UnsettledCreations({ clock: new ManualTime() });
const config = podSettings.parse({ environment: { env: { REGION: "eu" } } });

interface RayJob extends KubeObject {
  spec: { head: PodSpec };
}

/** The objects of one namespace, and an error for the next creation. */
class FakeApi {
  readonly objects = new Map<string, KubeObject>();
  rejection: KubeError | undefined;

  create<T extends KubeObject>(_: ResourceRef, object: KubeObject): Promise<T> {
    if (this.rejection !== undefined) return Promise.reject(this.rejection);
    const { name } = object.metadata;
    if (this.objects.has(name)) return Promise.reject(new KubeError("exists", { status: 409, reason: "AlreadyExists" }));
    this.objects.set(name, object);
    return Promise.resolve(object as T);
  }

  get<T extends KubeObject>(_: ResourceRef, { name }: { readonly name: string }): Promise<T | undefined> {
    return Promise.resolve(this.objects.get(name) as T | undefined);
  }
}

function buildJob(request: TaskRequest, options: BuildPodOptions): RayJob {
  const { spec, labels, annotations } = buildPodSpec(request, options);
  return {
    apiVersion: "ray.io/v1",
    kind: "RayJob",
    metadata: objectMeta(request, { labels, annotations }, options.config.metadata),
    spec: { head: spec },
  };
}

describe("an operator's resource", () => {
  let api: FakeApi;
  let store: MemoryStore;
  let request: TaskRequest;
  const build = () =>
    buildWithPrerequisites(request, { client: api, store, config, defaultPodTemplate: "", templateNamespace: "" }, buildJob);
  const createJob = async () => createAttemptObject(await build(), request, { client: api, creations, ref: RAY_JOBS, kind: "RayJob" });

  beforeEach(() => {
    api = new FakeApi();
    store = new MemoryStore();
    const template = create(TaskTemplateSchema, {
      type: "ray",
      target: { case: "container", value: { image: "ray:1", args: ["{{.input}}"] } },
    });
    request = sampleRequest("ray", { template });
  });

  it("has the attempt's pod spec, name, owner and annotation", async () => {
    const job = await createJob();
    expect(job.metadata).toMatchObject({ name: request.generatedName, ownerReferences: [{ uid: request.owner?.uid }] });
    expect(job.spec.head.containers).toMatchObject([{ name: request.generatedName, image: "ray:1", args: [request.inputUri] }]);
    expect(job.spec.head.containers[0]?.env).toContainEqual({ name: "REGION", value: "eu" });
    expect(decodeAttemptAnnotation(job)?.workflowKey).toBe(request.workflowKey);
    expect(store.blobs.has(request.inputUri)).toBe(true);
  });

  it("is adopted when it exists", async () => {
    const first = await createJob();
    expect(await createJob()).toBe(first);
  });

  it("is not adopted from another attempt", async () => {
    await createJob();
    request = { ...request, workflowKey: "p-development/other" };
    await expect(createJob()).rejects.toMatchObject({ details: { code: "RayJobNameTaken", kind: "SYSTEM" } });
    await expect(createJob()).rejects.toThrow(`rayjob ${request.namespace}/${request.generatedName} exists and belongs to another attempt`);
  });

  it("waits while an older one of its name is being deleted", async () => {
    const { metadata, ...job } = await createJob();
    api.objects.set(metadata.name, { ...job, metadata: { ...metadata, deletionTimestamp: "2026-01-02T03:04:05Z" } });
    request = { ...request, workflowKey: "p-development/other" };
    await expect(createJob()).rejects.toBeInstanceOf(RetryLater);
  });

  it.each([
    ["an exhausted quota", { status: 403, message: "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2" }, RetryLater],
    ["another refusal", { status: 403, message: "forbidden" }, RetryableFailure],
    ["an invalid resource", { status: 422, message: "spec.head: invalid" }, PermanentFailure],
  ])("maps %s", async (_, { status, message }, type) => {
    api.rejection = new KubeError(message, { status });
    await expect(createJob()).rejects.toBeInstanceOf(type);
  });

  it("fails for good when the task is invalid", async () => {
    if (request.template !== undefined) request.template.target = { case: undefined };
    await expect(build()).rejects.toMatchObject({ details: { code: "FailedToBuildResource" } });
  });
});
