import type { KeyValuePair } from "@aws-sdk/client-batch";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Variable with the name of the variable that holds a child's index; flytekit reads it. */
const INDEX_VARIABLE_NAME = "BATCH_JOB_ARRAY_INDEX_VAR_NAME";
/** Set by AWS in the children of an array. */
const AWS_INDEX = "AWS_BATCH_JOB_ARRAY_INDEX";
/**
 * Variables of the container, sorted: those of the task, of the execution, Flyte's, and those of
 * the installation. FLYTE_FAIL_ON_ERROR makes flytekit exit with an error code when its task fails.
 */
const SINGLE_INDEX = "FLYTE_BATCH_JOB_INDEX";

/**
 * Variables of the container, sorted: those of the task, of the execution, Flyte's, and those of
 * the installation. flytekit then exits with an error where its task fails.
 */
export function batchEnvironment(
  request: TaskRequest,
  installation: Readonly<Record<string, string>>,
  isArray: boolean,
  size: number,
): KeyValuePair[] {
  const container = request.template?.target.case === "container" ? request.template.target.value.env : [];
  const pairs = (entries: readonly { readonly key: string; readonly value: string }[]) =>
    entries.map(({ key, value }) => [key, value] as const);
  const variables = new Map<string, string>([
    ...pairs(container),
    ...Object.entries(flyteVariables(request)),
    ...pairs(request.environment),
    ...Object.entries(installation),
    ["FLYTE_FAIL_ON_ERROR", "true"],
    ...(isArray ? Object.entries(indexVariables(size)) : []),
  ]);
  return [...variables].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ({ name, value }));
}

function indexVariables(size: number): Record<string, string> {
  return size > 1 ? { [INDEX_VARIABLE_NAME]: AWS_INDEX } : { [INDEX_VARIABLE_NAME]: SINGLE_INDEX, [SINGLE_INDEX]: "0" };
}

function flyteVariables({ id, workflowId: workflow }: TaskRequest): Record<string, string> {
  const execution = id?.nodeExecutionId?.executionId;
  const task = id?.taskId;
  return {
    ...(workflow && { FLYTE_INTERNAL_EXECUTION_WORKFLOW: `${workflow.project}:${workflow.domain}:${workflow.name}` }),
    ...(execution && {
      FLYTE_INTERNAL_EXECUTION_ID: execution.name,
      FLYTE_INTERNAL_EXECUTION_PROJECT: execution.project,
      FLYTE_INTERNAL_EXECUTION_DOMAIN: execution.domain,
    }),
    FLYTE_ATTEMPT_NUMBER: String(id?.retryAttempt ?? 0),
    ...(task && {
      FLYTE_INTERNAL_TASK_PROJECT: task.project,
      FLYTE_INTERNAL_TASK_DOMAIN: task.domain,
      FLYTE_INTERNAL_TASK_NAME: task.name,
      FLYTE_INTERNAL_TASK_VERSION: task.version,
    }),
  };
}
