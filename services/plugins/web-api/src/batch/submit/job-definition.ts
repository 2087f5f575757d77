import type { PlatformCapability, RegisterJobDefinitionRequest } from "@aws-sdk/client-batch";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { badTask } from "../../task/bad-task.js";

export interface JobDefinitionSettings {
  /** Annotation of executions that names the role of jobs. */
  readonly roleAnnotationKey: string;
  /** Role with which Fargate pulls images and writes logs. */
  readonly executionRoleArn?: string | undefined;
  /** Gives Fargate jobs a public address, which they need to pull images in a public subnet. */
  readonly assignPublicIp: boolean;
}

export interface JobDefinition {
  readonly image: string;
  /** Role of the container; empty: none. */
  readonly roleArn: string;
  readonly platform: PlatformCapability;
}

/** Properties that distinguish job definitions. @throws PermanentFailure without a container. */
export function jobDefinitionOf(
  request: TaskRequest,
  platform: PlatformCapability,
  { roleAnnotationKey }: JobDefinitionSettings,
): JobDefinition {
  const { template, overrides, securityContext, annotations } = request;
  if (template?.target.case !== "container") throw badTask("AWS Batch runs containers: the task has none");
  const image = overrides?.containerImage || template.target.value.image;
  if (image === "") throw badTask("the container has no image");
  const annotated = roleAnnotationKey === "" ? undefined : annotations[roleAnnotationKey];
  return { image, platform, roleArn: securityContext?.runAs?.iamRole || annotated || "" };
}

/** Key of a definition in the cache. */
export function definitionKey({ image, roleArn, platform }: JobDefinition): string {
  return JSON.stringify([image, roleArn, platform]);
}

/**
 * Builds the call that registers a definition. Its resources are the minima, which each job
 * overrides.
 */
export function registerInput(definition: JobDefinition, settings: JobDefinitionSettings): RegisterJobDefinitionRequest {
  const { image, roleArn, platform } = definition;
  const isFargate = platform === "FARGATE";
  return {
    jobDefinitionName: definitionName(image),
    type: "container",
    platformCapabilities: [platform],
    containerProperties: {
      image,
      ...(roleArn !== "" && { jobRoleArn: roleArn }),
      resourceRequirements: [
        { type: "VCPU", value: isFargate ? "0.25" : "1" },
        { type: "MEMORY", value: isFargate ? "512" : "100" },
      ],
      ...(settings.executionRoleArn !== undefined && { executionRoleArn: settings.executionRoleArn }),
      ...(isFargate && { networkConfiguration: { assignPublicIp: settings.assignPublicIp ? "ENABLED" : "DISABLED" } }),
    },
  };
}

/** Name from the image's repository: letters, digits, dashes and underscores, at most 128. */
export function definitionName(image: string): string {
  const withoutDigest = image.split("@")[0] ?? "";
  const repository =
    withoutDigest
      .replace(/:[^/:]*$/, "")
      .split("/")
      .at(-1) ?? "";
  const name = repository.replace(/[^A-Za-z0-9_-]+/g, "-").replace(/^[-_]+/, "");
  return name.slice(0, 128) || "flyte-task";
}
