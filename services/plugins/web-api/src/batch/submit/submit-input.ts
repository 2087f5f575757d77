import { durationMs } from "@bufbuild/protobuf/wkt";
import type { PlatformCapability, SubmitJobRequest } from "@aws-sdk/client-batch";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { badTask } from "../../task/bad-task.js";
import type { ArraySpec } from "../array-spec.js";
import { customSubmitFields } from "./custom-fields.js";
import { batchEnvironment } from "./environment.js";
import { resourceRequirements } from "./resource-requirements.js";

/**
 * Parameter of a job that identifies its attempt. The job's name does not suffice, since the name
 * of a deleted execution may be used again.
 */
export const ATTEMPT_PARAMETER = "flyteAttempt";
/** AWS accepts no shorter timeout, seconds. */
const MIN_TIMEOUT_SECONDS = 60;

export interface SubmitSettings {
  /** Variables of every container. */
  readonly defaultEnvVars: Readonly<Record<string, string>>;
  /** Time limit of tasks that state none, seconds. */
  readonly defaultTimeoutSeconds: number;
}

export interface SubmitOptions {
  readonly spec: ArraySpec;
  readonly platform: PlatformCapability;
  /** ARN of the job definition. */
  readonly jobDefinition: string;
  readonly render: (text: string) => string;
  readonly settings: SubmitSettings;
}

/** Builds the call that submits the job. Flyte retries, so AWS makes one attempt. */
export function submitInput(request: TaskRequest, options: SubmitOptions): SubmitJobRequest {
  const { spec, platform, jobDefinition, render, settings } = options;
  const container = request.template?.target.case === "container" ? request.template.target.value : undefined;
  const custom = spec.isArray ? {} : customSubmitFields(request.template);
  return {
    ...custom,
    jobName: request.generatedName,
    jobQueue: queueOf(request),
    jobDefinition,
    parameters: { ...custom.parameters, [ATTEMPT_PARAMETER]: attemptIdentity(request) },
    containerOverrides: {
      command: [...(container?.command ?? []), ...(container?.args ?? [])].map(render),
      environment: batchEnvironment(request, settings.defaultEnvVars, spec.isArray, spec.size),
      resourceRequirements: resourceRequirements(request, platform),
    },
    retryStrategy: { attempts: 1 },
    timeout: { attemptDurationSeconds: timeoutSeconds(request, settings) },
    ...(spec.size > 1 && { arrayProperties: { size: spec.size } }),
  };
}

/** Identity of an attempt that no later execution of the same name has. */
export function attemptIdentity({ owner, generatedName }: TaskRequest): string {
  return `${owner?.uid ?? ""}/${generatedName}`;
}

/** Keys of the container's config that may name its queue; the first present one counts. */
const QUEUE_KEYS = ["dynamic_queue", "child_queue"];

/** Queue of the job. @throws PermanentFailure when the container's config names none. */
export function queueOf({ template }: TaskRequest): string {
  const config = template?.target.case === "container" ? template.target.value.config : [];
  for (const key of QUEUE_KEYS) {
    const queue = config.find((pair) => pair.key === key)?.value;
    if (queue) return queue;
  }
  throw badTask(
    "no queue of AWS Batch is configured for the task: set `queues` in the settings of admin, or an execution queue attribute " +
      "(flytectl update execution-queue-attribute) for its project, domain or workflow, which admin writes as `dynamic_queue`",
  );
}

function timeoutSeconds({ template }: TaskRequest, { defaultTimeoutSeconds }: SubmitSettings): number {
  const declared = template?.metadata?.timeout;
  const seconds = declared === undefined ? 0 : Math.ceil(durationMs(declared) / 1_000);
  return Math.max(MIN_TIMEOUT_SECONDS, seconds > 0 ? seconds : defaultTimeoutSeconds);
}
