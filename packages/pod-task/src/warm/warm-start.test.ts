import { create } from "@bufbuild/protobuf";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { describe, expect, it } from "vitest";
import { buildPod } from "../build/build-pod.js";
import { decodeAttemptAnnotation } from "../create/attempt-annotation.js";
import type { Pod, PodSpec } from "../pod-types.js";
import { podSettings } from "../settings.js";
import { takePatch } from "./take-patch.js";
import { asAttemptPod, endedUnassigned, isIdleWarmPod, takenAt } from "./taken-pod.js";
import { warmStart } from "./warm-start.js";

const config = podSettings.parse({});
const options = { python: "python3", maxIdleSeconds: 60 };
type ContainerFields = { args?: string[]; image?: string; env?: { key: string; value: string }[] };

function request(over: Partial<TaskRequest> = {}, container: ContainerFields = {}): TaskRequest {
  const asked = sampleRequest("python-task", over);
  asked.template = create(TaskTemplateSchema, {
    id: { name: "tasks.work" },
    type: "python-task",
    target: {
      case: "container",
      value: { image: "example/image:1", args: ["pyflyte-execute", "--inputs", "{{.input}}", "a$$b"], ...container },
    },
  });
  return asked;
}
const startOf = (asked: TaskRequest) => warmStart(buildPod(asked, { config }), asked, options);
const keyOf = (asked: TaskRequest) => startOf(asked)?.key;
/** The start of a pod with further fields of its spec or of its container. */
const withFields = (spec: Partial<PodSpec>, container: object = {}) => {
  const asked = request();
  const pod = buildPod(asked, { config });
  const containers = pod.spec.containers.map((each) => ({ ...each, ...container }));
  return warmStart({ ...pod, spec: { ...pod.spec, containers, ...spec } }, asked, options);
};

describe("the division of a pod", () => {
  it("leaves nothing of the attempt in the idle pod", () => {
    const asked = request({}, { env: [{ key: "OWN", value: "x" }] });
    const start = startOf(asked);
    const idle = JSON.stringify([start?.metadata, start?.spec]);
    for (const text of [asked.generatedName, "a1b2c3d4e5f6g7h8i9j0", asked.inputUri, "execution-id"]) expect(idle).not.toContain(text);
    expect(idle).toContain("OWN");
    expect(start?.assignment).toMatchObject({
      command: ["pyflyte-execute", "--inputs", asked.inputUri, "a$b"],
      env: { FLYTE_INTERNAL_EXECUTION_ID: "a1b2c3d4e5f6g7h8i9j0", FLYTE_ATTEMPT_NUMBER: "0" },
    });
    expect(start?.taken.labels).toMatchObject({ "execution-id": "a1b2c3d4e5f6g7h8i9j0", "node-id": "n0" });
    expect(start?.metadata.labels).toMatchObject({ project: "p", domain: "development" });
  });

  it("gives attempts of another execution, node and input the same key", () => {
    const other = {
      generatedName: "other-n1-0",
      nodePath: "n1",
      inputUri: "s3://b/other",
      labels: { ...request().labels, "execution-id": "other" },
    };
    expect(keyOf(request(other))).toBe(keyOf(request()));
  });

  it("gives items of an array the same key", () => {
    const item = (index: number) => {
      const env = Object.entries({
        BATCH_JOB_ARRAY_INDEX_VAR_NAME: "FLYTE_K8S_ARRAY_INDEX",
        FLYTE_K8S_ARRAY_INDEX: String(index),
        BATCH_JOB_ARRAY_INDEX_OFFSET: String(-index),
      });
      return request({}, { env: env.map(([key, value]) => ({ key, value })) });
    };
    expect(keyOf(item(1))).toBeDefined();
    expect(keyOf(item(60))).toBe(keyOf(item(1)));
    expect(startOf(item(60))?.assignment.env).toMatchObject({ BATCH_JOB_ARRAY_INDEX_OFFSET: "-60" });
  });

  it.each<[string, TaskRequest]>([
    ["namespace", request({ namespace: "q-development" })],
    ["image", request({}, { image: "example/image:2" })],
    ["variable", request({}, { env: [{ key: "OWN", value: "x" }] })],
    ["label of the execution", request({ labels: { ...request().labels, team: "a" } })],
    ["annotation of the execution", request({ annotations: { team: "a" } })],
    ["principal", request({ securityContext: { runAs: { executionIdentity: "someone" } } as TaskRequest["securityContext"] })],
    ["service account", request({ securityContext: { runAs: { k8sServiceAccount: "sa" } } as TaskRequest["securityContext"] })],
    ["entry point", request({}, { args: ["pyflyte-fast-execute"] })],
  ])("gives another %s another key", (_, asked) => {
    expect(keyOf(asked)).toBeDefined();
    expect(keyOf(asked)).not.toBe(keyOf(request()));
  });

  it.each<[string, TaskRequest]>([
    ["another program", request({}, { args: ["python", "x.py"] })],
    ["an argument with a variable", request({}, { args: ["pyflyte-execute", "$(HOME)"] })],
    ["a variable with the attempt's name", request({}, { env: [{ key: "X", value: "$(FLYTE_INTERNAL_EXECUTION_ID)" }] })],
    ["an own value of an attempt's variable", request({}, { env: [{ key: "FLYTE_ATTEMPT_NUMBER", value: "7" }] })],
    ["an image that is looked up at each start", request({}, { image: "example/image" })],
    ["an assignment that is too large", request({}, { args: ["pyflyte-execute", "x".repeat(70_000)] })],
  ])("starts a pod with %s cold", (_, asked) => {
    expect(startOf(asked)).toBeUndefined();
  });

  it.each<[string, Partial<PodSpec> & Record<string, unknown>, object]>([
    ["a claimed volume", { volumes: [{ name: "v", persistentVolumeClaim: {} } as never] }, {}],
    ["a file of its metadata", { volumes: [{ name: "v", projected: { sources: [{ downwardAPI: {} }] } } as never] }, {}],
    ["an init container", { initContainers: [{ name: "i" }] }, {}],
    ["a deadline", { activeDeadlineSeconds: 5 } as never, {}],
    ["a device", {}, { resources: { limits: { "nvidia.com/gpu": "1" } } }],
    ["a probe", {}, { livenessProbe: {} }],
    ["a pull at each start", {}, { imagePullPolicy: "Always" }],
    ["a variable of its metadata", {}, { env: [{ name: "N", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }] }],
  ])("starts a pod with %s cold", (_, spec, container) => {
    expect(withFields({})).toBeDefined();
    expect(withFields(spec, container)).toBeUndefined();
  });
});

describe("a taken pod", () => {
  const asked = request();
  const start = startOf(asked);
  const idle: Pod = {
    metadata: { name: "warm-1", namespace: "p-development", uid: "u1", resourceVersion: "5", labels: start?.metadata.labels ?? {} },
    spec: { containers: [{ name: "task" }] },
  };
  const now = new Date("2026-01-02T03:04:05.500Z");
  const patch = takePatch(idle, asked, { start: start as NonNullable<typeof start>, now }) as object as { metadata: Pod["metadata"] };
  const taken: Pod = { ...idle, metadata: { ...idle.metadata, ...patch.metadata, creationTimestamp: "2026-01-02T03:00:00Z" } };

  it("is taken by a patch of one version, names its attempt and belongs to its workflow", () => {
    expect(patch.metadata).toMatchObject({ resourceVersion: "5", ownerReferences: [{ uid: asked.owner?.uid }] });
    expect([isIdleWarmPod(idle), isIdleWarmPod(taken)]).toEqual([true, false]);
    expect(decodeAttemptAnnotation(taken)?.generatedName).toBe(asked.generatedName);
    expect(takenAt(taken)).toEqual(now);
  });

  it("is not recognised by copied annotations", () => {
    const copied = { ...taken, metadata: { ...taken.metadata, uid: "u2" } };
    expect([decodeAttemptAnnotation(copied), takenAt(copied)]).toEqual([undefined, undefined]);
  });

  it("shows nothing that happened before it was taken", () => {
    const state = { terminated: { exitCode: 0, startedAt: "2026-01-02T03:00:01Z", finishedAt: "2026-01-02T03:04:05Z" } };
    const shown = asAttemptPod({ ...taken, status: { containerStatuses: [{ name: "task", state }] } });
    const since = now.toISOString();
    expect(shown.metadata.creationTimestamp).toBe(since);
    expect(shown.status?.containerStatuses?.[0]?.state?.terminated).toMatchObject({ startedAt: since, finishedAt: since });
    const cold = { ...idle, metadata: { ...idle.metadata, creationTimestamp: "2026-01-02T03:00:00Z" } };
    expect(asAttemptPod(cold)).toBe(cold);
  });

  it("fails as the system when it ended before it read its assignment", () => {
    const ended = (exitCode: number, message: string): Pod => ({
      ...taken,
      status: { containerStatuses: [{ name: "task", state: { terminated: { exitCode, message } } }] },
    });
    expect(endedUnassigned(ended(75, "the warm pod ended without an attempt"))?.details).toMatchObject({
      code: "WarmPodEnded",
      kind: "SYSTEM",
    });
    expect(endedUnassigned(ended(75, "temporary failure"))).toBeUndefined();
    expect(endedUnassigned(ended(1, "the warm pod ended without an attempt"))).toBeUndefined();
  });
});
