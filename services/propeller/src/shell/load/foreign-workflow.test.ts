import type { KubeClient } from "@flyte-ts/kubernetes";
import { expect, test } from "vitest";
import { executionIdOf } from "./execution-id.js";
import { buildAbandonPatch } from "./abandon-workflow.js";
import { WorkflowLoader } from "./load-workflow.js";
import { loadBlockerEvent } from "./blocker-event.js";

const namespaceTemplate = "{{ project }}-{{ domain }}";
const labels = { project: "victim", domain: "production", "execution-id": "e1" };
const forged = { namespace: "own-development", name: "e1", resourceVersion: "7", labels };
const facts = { namespaceTemplate, resourceVersion: "7", producerId: "propeller", code: "C", message: "m", now: 0 };

test("blobs that a resource refers to in another namespace's folder are not read", async () => {
  const read: string[] = [];
  const resource = {
    metadata: { ...forged, labels: {} },
    executionId: { project: "victim", domain: "production", name: "e1" },
    offloadedInputs: "s3://bucket/metadata/victim/production/e1/inputs",
    workflowClosureReference: "s3://bucket/metadata/victim/production/closure.pb",
    status: { phase: 1, slices: { version: 1, prefix: "s3://bucket/victim-production-e1", generation: 1, names: { a: "b" } } },
  };
  const client = { get: () => Promise.resolve(resource) } as unknown as Pick<KubeClient, "get">;
  const store = {
    get: (uri: string) => {
      read.push(uri);
      return Promise.resolve(undefined);
    },
  };
  const slices = {
    read: (references: readonly { uri: string }[]) => Promise.resolve(references.flatMap(({ uri }) => (read.push(uri), []))),
  };
  await expect(new WorkflowLoader(client, store, slices, namespaceTemplate).load({ name: "e1" })).rejects.toMatchObject({
    name: "InvalidWorkflowError",
    message: 'executionId: names an execution of namespace "victim-production", the resource is in "own-development"',
  });
  expect(read).toEqual([]);
});

test("labels that name an execution of another namespace are ignored", () => {
  expect(executionIdOf(forged, namespaceTemplate)).toBeUndefined();
  const own = { ...forged, labels: { ...labels, project: "own", domain: "development" } };
  expect(executionIdOf(own, namespaceTemplate)).toMatchObject({ project: "own", domain: "development", name: "e1" });
  expect(executionIdOf({ ...own, labels: {} }, namespaceTemplate)).toBeUndefined();
});

test("a resource belongs to the execution of its own name, also with the labels of the execution that launched it", () => {
  const own = { ...forged, namespace: "victim-production", name: "child" };
  expect(executionIdOf(own, namespaceTemplate)).toMatchObject({ project: "victim", domain: "production", name: "child" });
  expect(buildAbandonPatch({ meta: own, ...facts }).event?.event.value).toMatchObject({ executionId: { name: "child" } });
  const { "execution-id": _, ...without } = labels;
  expect(executionIdOf({ ...own, labels: without }, namespaceTemplate)).toMatchObject({ name: "child" });
});

test("a resource that is given up is not reported as the execution of another namespace", () => {
  expect(buildAbandonPatch({ meta: forged, ...facts }).event).toBeUndefined();
  expect(loadBlockerEvent(forged, { namespaceTemplate, reason: "r", now: 0 })).toBeUndefined();
  const own = { ...forged, namespace: "victim-production" };
  expect(buildAbandonPatch({ meta: own, ...facts }).event?.event.value).toMatchObject({ executionId: { project: "victim" } });
  expect(loadBlockerEvent(own, { namespaceTemplate, reason: "r", now: 0 })).toBeDefined();
});
