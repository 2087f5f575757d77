import { expect, test } from "vitest";
import { checkIdentity } from "./identity.js";
import { WorkflowFormatError } from "./field.js";

const TEMPLATE = "{{ project }}-{{ domain }}";
const executionId = { project: "own", domain: "development", name: "e1" };
const metadata = { namespace: "own-development", name: "e1", labels: { project: "own", domain: "development", "execution-id": "e1" } };
const sound = {
  metadata,
  executionId,
  offloadedInputs: "s3://bucket/metadata/own/development/e1/inputs",
  status: { dataDir: "s3://bucket/metadata/propeller/own-development-e1", slices: { prefix: "s3://b/m/own-development-e1/status" } },
};

test.each([
  ["in the form that admin writes", sound, TEMPLATE],
  ["without labels, inputs and status", { metadata: { namespace: "own-development", name: "e1" }, executionId }, TEMPLATE],
  ["with labels of users", { ...sound, metadata: { ...metadata, labels: { ...metadata.labels, team: "a" } } }, TEMPLATE],
  // Go FlyteAdmin lets the given labels override its own and gives a child execution the labels of
  // its parent, so these labels may name another execution.
  [
    "with the labels of its parent",
    { ...sound, metadata: { ...metadata, labels: { ...metadata.labels, "execution-id": "e0" } } },
    TEMPLATE,
  ],
  [
    "with a user's label in place of its own",
    { ...sound, metadata: { ...metadata, labels: { ...metadata.labels, project: "x" } } },
    TEMPLATE,
  ],
  ["in the namespace of another template", { ...sound, metadata: { ...metadata, namespace: "flyte-own" } }, "flyte-{{project}}"],
  ["without an execution to recover", { ...sound, executionConfig: { RecoveryExecution: {} } }, TEMPLATE],
  [
    "with an execution of the same project to recover",
    { ...sound, executionConfig: { RecoveryExecution: { ...executionId, name: "e0" } } },
    TEMPLATE,
  ],
  ["without a status", { ...sound, status: { phase: 0, dataDir: "" } }, TEMPLATE],
])("a resource %s is accepted for its execution", (_, resource, template) => {
  expect(() => checkIdentity(resource, template)).not.toThrow();
});

const victim = { project: "victim", domain: "production", name: "e1" };
test.each([
  ["executionId", { ...sound, executionId: victim }],
  ["executionId", { ...sound, executionId: { ...executionId, domain: "production" } }],
  ["executionId", { ...sound, metadata: { ...metadata, namespace: "kube-system" } }],
  ["executionId.name", { ...sound, executionId: { ...executionId, name: "e2" } }],
  ["executionId", { ...sound, executionId: undefined }],
  ["executionId.name", { ...sound, executionId: {} }],
  ["executionId", { ...sound, executionId: 5 }],
  ["offloadedInputs", { ...sound, offloadedInputs: "s3://bucket/metadata/victim/production/e1/inputs" }],
  ["offloadedInputs", { ...sound, offloadedInputs: "s3://bucket/own/development/e1/../../../victim/production/e1/inputs" }],
  ["offloadedInputs", { ...sound, offloadedInputs: ["s3://bucket"] }],
  ["executionConfig.RecoveryExecution.project", { ...sound, executionConfig: { RecoveryExecution: victim } }],
  ["executionConfig.RecoveryExecution.domain", { ...sound, executionConfig: { RecoveryExecution: { ...victim, project: "own" } } }],
  ["executionConfig.RecoveryExecution", { ...sound, executionConfig: { RecoveryExecution: "victim" } }],
  ["status.dataDir", { ...sound, status: { dataDir: "s3://bucket/metadata/propeller/victim-production-e1" } }],
  ["status.slices.prefix", { ...sound, status: { slices: { prefix: "s3://bucket/metadata/propeller/victim-production-e1/status" } } }],
])("%s of another is refused", (path, resource) => {
  expect(() => checkIdentity(resource, TEMPLATE)).toThrow(WorkflowFormatError);
  expect(() => checkIdentity(resource, TEMPLATE)).toThrow(`${path}: `);
});
