import { create } from "@bufbuild/protobuf";
import { TaskExecutionMetadataSchema } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { NodeOverridesSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { KeyValuePairSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { taskMetadata } from "./task-metadata.js";

test("a connector gets the facts of the attempt", () => {
  const request = sampleRequest("toy", {
    template: create(TaskTemplateSchema, { type: "toy", metadata: { retries: { retries: 2 } } }),
    annotations: { note: "x" },
    environment: [create(KeyValuePairSchema, { key: "MODE", value: "fast" })],
    interruptible: true,
    securityContext: create(SecurityContextSchema, { runAs: { k8sServiceAccount: "worker", executionIdentity: "me" } }),
    overrides: create(NodeOverridesSchema, { containerImage: "other:1" }),
  });
  const metadata = create(TaskExecutionMetadataSchema, taskMetadata(request));
  expect(metadata).toMatchObject({
    taskExecutionId: request.id,
    namespace: "p-development",
    labels: request.labels,
    annotations: { note: "x" },
    k8sServiceAccount: "worker",
    environmentVariables: { MODE: "fast" },
    maxAttempts: 3,
    interruptible: true,
    overrides: { containerImage: "other:1" },
    identity: { k8sServiceAccount: "worker", executionIdentity: "me" },
  });
});

test("an attempt without a security context has no identity", () => {
  expect(taskMetadata(sampleRequest("toy"))).toMatchObject({ k8sServiceAccount: "", maxAttempts: 1 });
});
