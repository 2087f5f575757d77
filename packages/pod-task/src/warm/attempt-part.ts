/** Labels that name the attempt; all others are part of the key. */
export const ATTEMPT_LABELS: ReadonlySet<string> = new Set(["execution-id", "node-id", "task-name", "workflow-name", "shard-key"]);
/** Variables that name the attempt; all others are part of the key. */
export const ATTEMPT_VARIABLES: ReadonlySet<string> = new Set([
  "FLYTE_INTERNAL_EXECUTION_WORKFLOW",
  "FLYTE_INTERNAL_EXECUTION_ID",
  "FLYTE_INTERNAL_EXECUTION_PROJECT",
  "FLYTE_INTERNAL_EXECUTION_DOMAIN",
  "FLYTE_ATTEMPT_NUMBER",
  "FLYTE_EXECUTION_URL",
  "FLYTE_INTERNAL_TASK_PROJECT",
  "FLYTE_INTERNAL_TASK_DOMAIN",
  "FLYTE_INTERNAL_TASK_NAME",
  "FLYTE_INTERNAL_TASK_VERSION",
  "BATCH_JOB_ARRAY_INDEX_VAR_NAME",
  "FLYTE_K8S_ARRAY_INDEX",
  "BATCH_JOB_ARRAY_INDEX_OFFSET",
]);
