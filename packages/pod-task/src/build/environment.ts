import { escapeReferences } from "@flyte-ts/domain/template";
import type { KeyValuePair } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { EnvVar, JsonMap } from "../pod-types.js";

export interface EnvironmentConfig {
  /** Set in every container. */
  readonly env: Readonly<Record<string, string>>;
  /** Like `env`: variable of the container → variable of this service whose value it gets. */
  readonly envFromService: Readonly<Record<string, string>>;
  /**
   * Secrets and config maps of the task's namespace whose keys become variables; they may be
   * absent.
   */
  readonly envFromSecrets: readonly string[];
  readonly envFromConfigMaps: readonly string[];
  /** Sizes in MB between which flytekit writes literals beside outputs.pb; undefined: never. */
  readonly literalOffloading?: { readonly minSizeMb: number; readonly maxSizeMb: number } | undefined;
}

/** Variables of a container definition. */
export function toEnvVars(pairs: readonly KeyValuePair[]): EnvVar[] {
  return pairs.map(({ key, value }) => ({ name: key, value }));
}

/**
 * Flyte's additions to a container's own variables, in the order of flytekit's containers.
 */
export function flyteEnvironment(request: TaskRequest, config: EnvironmentConfig): EnvVar[] {
  const node = request.id?.nodeExecutionId;
  const execution = node?.executionId;
  const task = request.id?.taskId;
  const workflow = request.workflowId;
  const variables: [string, string | undefined][] = [
    ["FLYTE_INTERNAL_EXECUTION_WORKFLOW", workflow && `${workflow.project}:${workflow.domain}:${workflow.name}`],
    ["FLYTE_INTERNAL_EXECUTION_ID", execution?.name],
    ["FLYTE_INTERNAL_EXECUTION_PROJECT", execution?.project],
    ["FLYTE_INTERNAL_EXECUTION_DOMAIN", execution?.domain],
    ["FLYTE_ATTEMPT_NUMBER", String(request.id?.retryAttempt ?? 0)],
    ["FLYTE_EXECUTION_URL", executionUrl(request)],
    ["FLYTE_INTERNAL_TASK_PROJECT", task?.project],
    ["FLYTE_INTERNAL_TASK_DOMAIN", task?.domain],
    ["FLYTE_INTERNAL_TASK_NAME", task?.name],
    ["FLYTE_INTERNAL_TASK_VERSION", task?.version],
    ["_F_L_MIN_SIZE_MB", config.literalOffloading && String(config.literalOffloading.minSizeMb)],
    ["_F_L_MAX_SIZE_MB", config.literalOffloading && String(config.literalOffloading.maxSizeMb)],
  ];
  return [
    ...variables.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value: escapeReferences(value) }])),
    // The launcher of an execution sets these values; the task's author has no influence on them.
    ...toEnvVars(request.environment).map(({ name, value = "" }) => ({ name, value: escapeReferences(value) })),
    ...installationEnvironment(config),
  ];
}

/** Variables that the installation gives every container. */
export function installationEnvironment({ env }: EnvironmentConfig): EnvVar[] {
  return Object.entries(env).map(([name, value]) => ({ name, value }));
}

/** The console's page of the node, for tasks with links of their own (`link_type`). */
function executionUrl({ consoleUrl, id, template }: TaskRequest): string | undefined {
  const execution = id?.nodeExecutionId?.executionId;
  if (consoleUrl === "" || execution === undefined || template?.config.link_type === undefined) return undefined;
  const { project, domain, name } = execution;
  return `${consoleUrl.replace(/\/+$/, "")}/projects/${project}/domains/${domain}/executions/${name}/nodeId/${id?.nodeExecutionId?.nodeId}/nodes`;
}

export function environmentSources({ envFromSecrets, envFromConfigMaps }: EnvironmentConfig): JsonMap[] {
  return [
    ...envFromSecrets.map((name) => ({ secretRef: { name, optional: true } })),
    ...envFromConfigMaps.map((name) => ({ configMapRef: { name, optional: true } })),
  ];
}

/** Adds to `env` the service's own variables listed in `envFromService`. */
export function addServiceVariables<T extends EnvironmentConfig>(config: T, serviceEnv: Readonly<Record<string, string | undefined>>): T {
  const variables = Object.entries(config.envFromService).flatMap(([name, from]) => {
    const value = serviceEnv[from];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...config, env: { ...config.env, ...Object.fromEntries(variables) } };
}
