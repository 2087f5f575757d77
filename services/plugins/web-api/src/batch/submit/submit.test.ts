import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { create } from "@bufbuild/protobuf";
import { ResourcesSchema, Resources_ResourceName as Name, TaskMetadataSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { describe, expect, it } from "vitest";
import { arrayRequest, batchContainer, batchRequest, taskRequest } from "../../stand-in/tasks.fixture.js";
import { arraySpec } from "../array-spec.js";
import { fargateSize } from "./fargate-sizes.js";
import { definitionName, jobDefinitionOf, registerInput } from "./job-definition.js";
import { platformOf } from "./platform.js";
import { resourceRequirements } from "./resource-requirements.js";
import { submitInput } from "./submit-input.js";

const settings = { defaultEnvVars: { EXTRA: "x" }, defaultTimeoutSeconds: 259_200 };
const render = (text: string) => text.replace("{{.outputPrefix}}", "s3://out");
const inputOf = (request: TaskRequest) =>
  submitInput(request, {
    spec: arraySpec(request.template, 5_000),
    platform: platformOf(request.template),
    jobDefinition: "arn",
    render,
    settings,
  });
const environmentOf = (request: TaskRequest) =>
  Object.fromEntries(inputOf(request).containerOverrides?.environment?.map(({ name, value }) => [name, value]) ?? []);

describe("SubmitJob", () => {
  it("has every field of an aws-batch task", () => {
    const custom = { parameters: { p: "1" }, schedulingPriority: 3, propagateTags: true, tags: { team: "a" }, platformCapabilities: null };
    const request = taskRequest({ type: "aws-batch", custom, target: batchContainer() });
    if (request.template !== undefined) request.template.metadata = create(TaskMetadataSchema, { timeout: durationFromMs(90_500) });
    expect(inputOf(request)).toEqual({
      jobName: "a1b2c3d4e5f6g7h8i9j0-n0-0",
      jobQueue: "queue-1",
      jobDefinition: "arn",
      parameters: { p: "1", flyteAttempt: "00000000-0000-4000-8000-000000000001/a1b2c3d4e5f6g7h8i9j0-n0-0" },
      schedulingPriorityOverride: 3,
      propagateTags: true,
      tags: { team: "a" },
      containerOverrides: {
        command: ["pyflyte-execute", "--output-prefix", "s3://out/0"],
        environment: expect.any(Array),
        resourceRequirements: [
          { type: "VCPU", value: "1" },
          { type: "MEMORY", value: "1024" },
        ],
      },
      retryStrategy: { attempts: 1 },
      timeout: { attemptDurationSeconds: 91 },
    });
  });

  it("has the variables of Flyte, the execution and the installation, sorted", () => {
    const request = batchRequest({ environment: [{ $typeName: "flyteidl.core.KeyValuePair", key: "OWN", value: "o" }] });
    const environment = inputOf(request).containerOverrides?.environment ?? [];
    const names = environment.map(({ name }) => name);
    expect(names).toEqual(names.toSorted((a = "", b = "") => (a < b ? -1 : 1)));
    expect(environmentOf(request)).toMatchObject({
      EXTRA: "x",
      OWN: "o",
      FLYTE_FAIL_ON_ERROR: "true",
      FLYTE_ATTEMPT_NUMBER: "0",
      FLYTE_INTERNAL_EXECUTION_ID: "a1b2c3d4e5f6g7h8i9j0",
      FLYTE_INTERNAL_EXECUTION_WORKFLOW: "p:development:flows.main",
      FLYTE_INTERNAL_TASK_NAME: "tasks.work",
    });
    expect(names).not.toContain("BATCH_JOB_ARRAY_INDEX_VAR_NAME");
  });

  it("has the default timeout, at least a minute", () => {
    expect(inputOf(batchRequest()).timeout).toEqual({ attemptDurationSeconds: 259_200 });
  });

  it("takes child_queue without dynamic_queue, and names the settings where both are missing", () => {
    const request = batchRequest();
    const target = batchContainer();
    if (target.case === "container" && target.value.config[0] !== undefined) target.value.config[0].key = "child_queue";
    if (request.template !== undefined) request.template.target = target;
    expect(inputOf(request).jobQueue).toBe("queue-1");
    expect(() => inputOf(taskRequest({ type: "aws-batch", target: batchContainer("") }))).toThrow(
      /`queues` in the settings of admin.*dynamic_queue/,
    );
  });

  it("has the size of an array and the name of the index variable", () => {
    expect(inputOf(arrayRequest(3)).arrayProperties).toEqual({ size: 3 });
    expect(environmentOf(arrayRequest(3)).BATCH_JOB_ARRAY_INDEX_VAR_NAME).toBe("AWS_BATCH_JOB_ARRAY_INDEX");
  });

  it("has no array of one item, which AWS refuses, but its index", () => {
    expect(inputOf(arrayRequest(1))).not.toHaveProperty("arrayProperties");
    expect(environmentOf(arrayRequest(1))).toMatchObject({
      BATCH_JOB_ARRAY_INDEX_VAR_NAME: "FLYTE_BATCH_JOB_INDEX",
      FLYTE_BATCH_JOB_INDEX: "0",
    });
  });

  it.each([
    [{ parameters: "x" }, "custom of the task"],
    [{ platformCapabilities: ["MARS"] }, "EC2 or FARGATE"],
  ])("refuses the custom %j for good", (custom, message) => {
    expect(() => inputOf(taskRequest({ type: "aws-batch", custom, target: batchContainer() }))).toThrow(
      expect.objectContaining({ name: "PermanentFailure", message: expect.stringContaining(message) }),
    );
  });
});

describe("an array", () => {
  it.each([
    [{ size: "10" }, 10],
    [{ size: "10", minSuccesses: "4" }, 4],
    [{ size: "10", min_successes: 4 }, 4],
    [{ size: "10", minSuccessRatio: 0.25 }, 3],
    [{ size: 10, minSuccessRatio: 0.1 }, 1],
    [{ size: "10", minSuccesses: "40" }, 10],
  ])("with %j needs %i successes", (custom, minSuccesses) => {
    expect(arraySpec(taskRequest({ type: "container_array", custom }).template, 5_000)).toEqual({ isArray: true, size: 10, minSuccesses });
  });

  it.each([0, 5_001])("refuses %i items for good", (size) => {
    expect(() => arraySpec(arrayRequest(size).template, 5_000)).toThrow("1 to 5000 are allowed (batch.maxArraySize)");
  });
});

describe("resources", () => {
  const resources = (limits: Partial<Record<keyof typeof Name, string>>, requests: typeof limits = {}) => {
    const entries = (values: typeof limits) =>
      Object.entries(values).map(([name, value]) => ({ name: Name[name as keyof typeof Name], value: value ?? "" }));
    return create(ResourcesSchema, { limits: entries(limits), requests: entries(requests) });
  };
  const withResources = (task: ReturnType<typeof resources>, over: Partial<TaskRequest> = {}) => {
    const request = batchRequest(over);
    if (request.template?.target.case === "container") request.template.target.value.resources = task;
    return request;
  };
  const valuesOf = (request: TaskRequest, platform: "EC2" | "FARGATE" = "EC2") =>
    Object.fromEntries(resourceRequirements(request, platform).map(({ type = "", value }) => [type, value]));

  it("are limits before requests, memory in MiB, whole vCPUs, and GPUs", () => {
    expect(valuesOf(withResources(resources({ CPU: "1500m", MEMORY: "2G", GPU: "1" }, { CPU: "1", MEMORY: "1Gi" })))).toEqual({
      VCPU: "2",
      MEMORY: "1908",
      GPU: "1",
    });
    expect(valuesOf(withResources(resources({}, { CPU: "3", MEMORY: "512Mi" })))).toEqual({ VCPU: "3", MEMORY: "512" });
  });

  it("takes those of the node before the task's, and the platform's limits cap them", () => {
    const overrides = { $typeName: "flytets.plugin.v1.NodeOverrides" as const, resources: resources({ CPU: "8" }), containerImage: "" };
    const resourceLimits = {
      $typeName: "flytets.plugin.v1.ResourceSet" as const,
      cpu: "4",
      memory: "1Gi",
      ephemeralStorage: "",
      storage: "",
      gpu: "",
    };
    expect(valuesOf(withResources(resources({ CPU: "1", MEMORY: "4Gi" }), { overrides, resourceLimits }))).toEqual({
      VCPU: "4",
      MEMORY: "1024",
    });
  });

  it("on Fargate are its smallest size that suffices, and no GPUs", () => {
    expect(valuesOf(withResources(resources({ CPU: "500m", MEMORY: "5Gi" })), "FARGATE")).toEqual({ VCPU: "1", MEMORY: "5120" });
    expect(() => valuesOf(withResources(resources({ GPU: "1" })), "FARGATE")).toThrow("no GPUs");
    expect(() => valuesOf(withResources(resources({ CPU: "17" })), "FARGATE")).toThrow("no size");
    expect(() => valuesOf(withResources(resources({ CPU: "much" })))).toThrow("resources.cpu");
  });

  it.each([
    [0.1, 100, { vcpu: "0.25", mib: 512 }],
    [0.25, 600, { vcpu: "0.25", mib: 1_024 }],
    [0.25, 2_049, { vcpu: "0.5", mib: 3_072 }],
    [2, 100, { vcpu: "2", mib: 4_096 }],
    [8, 17_000, { vcpu: "8", mib: 20_480 }],
  ])("%f vCPUs and %i MiB are the size %j of Fargate", (cpu, mib, size) => {
    expect(fargateSize(cpu, mib)).toEqual(size);
  });
});

describe("RegisterJobDefinition", () => {
  const definitionSettings = { roleAnnotationKey: "iam/role", executionRoleArn: "arn:execution", assignPublicIp: true };

  it("has the image, the role and the platform", () => {
    const securityContext = create(SecurityContextSchema, { runAs: { iamRole: "arn:role" } });
    const definition = jobDefinitionOf(batchRequest({ securityContext }), "EC2", definitionSettings);
    expect(registerInput(definition, { roleAnnotationKey: "", assignPublicIp: false })).toEqual({
      jobDefinitionName: "image",
      type: "container",
      platformCapabilities: ["EC2"],
      containerProperties: {
        image: "registry.example.com/team/image:v1",
        jobRoleArn: "arn:role",
        resourceRequirements: [
          { type: "VCPU", value: "1" },
          { type: "MEMORY", value: "100" },
        ],
      },
    });
  });

  it("for Fargate has the execution role and the network; the annotation names the role", () => {
    const definition = jobDefinitionOf(batchRequest({ annotations: { "iam/role": "arn:annotated" } }), "FARGATE", definitionSettings);
    expect(registerInput(definition, definitionSettings).containerProperties).toMatchObject({
      jobRoleArn: "arn:annotated",
      executionRoleArn: "arn:execution",
      networkConfiguration: { assignPublicIp: "ENABLED" },
    });
  });

  it("is refused without a container", () => {
    expect(() => jobDefinitionOf(taskRequest({ type: "aws-batch" }), "EC2", definitionSettings)).toThrow("the task has none");
  });

  it.each([
    ["registry:5000/team/my.image:v1.2", "my-image"],
    ["image@sha256:abc", "image"],
    ["localhost:30000/_x", "x"],
    ["..", "flyte-task"],
  ])("for the image %s is named %s", (image, name) => {
    expect(definitionName(image)).toBe(name);
  });
});
