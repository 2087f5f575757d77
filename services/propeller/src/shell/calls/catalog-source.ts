import { create } from "@bufbuild/protobuf";
import { type Identifier, type TaskExecutionIdentifier, TaskExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";

// Origin of cached outputs, with Go Flyte's metadata keys of datasets and artifacts.

const TASK_VERSION = "task-version";
const PROJECT = "exec-project";
const DOMAIN = "exec-domain";
const NAME = "execution-name";
const NODE = "exec-node";
const ATTEMPT = "exec-attempt";

type MetadataMap = Readonly<Record<string, string>>;

/** Metadata of a dataset. */
export function taskVersion(source: TaskExecutionIdentifier): Record<string, string> {
  return { [TASK_VERSION]: source.taskId?.version ?? "" };
}

/** Metadata of an artifact. */
export function artifactMetadata({ nodeExecutionId, retryAttempt }: TaskExecutionIdentifier): Record<string, string> {
  const execution = nodeExecutionId?.executionId;
  return {
    [PROJECT]: execution?.project ?? "",
    [DOMAIN]: execution?.domain ?? "",
    [NAME]: execution?.name ?? "",
    [NODE]: nodeExecutionId?.nodeId ?? "",
    [ATTEMPT]: String(retryAttempt),
  };
}

export interface ArtifactSource {
  /** The task whose outputs are looked up. */
  readonly task: Identifier;
  readonly dataset: MetadataMap;
  readonly artifact: MetadataMap;
}

/** The attempt that made the outputs; missing metadata is `unknown`. */
export function sourceOf({ task, dataset, artifact }: ArtifactSource): { case: "sourceTaskExecution"; value: TaskExecutionIdentifier } {
  const { resourceType, project, domain, name } = task;
  const value = create(TaskExecutionIdentifierSchema, {
    taskId: { resourceType, project, domain, name, version: dataset[TASK_VERSION] ?? "unknown" },
    nodeExecutionId: {
      nodeId: artifact[NODE] ?? "unknown",
      executionId: { project: artifact[PROJECT] ?? project, domain: artifact[DOMAIN] ?? domain, name: artifact[NAME] ?? "unknown" },
    },
    retryAttempt: Number.parseInt(artifact[ATTEMPT] ?? "0", 10) || 0,
  });
  return { case: "sourceTaskExecution", value };
}
