import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type Collection,
  type Context,
  type FileStore,
  type Registration,
  runTask,
  type TaskDefinition,
  type TaskResult,
} from "@flyte-ts/sdk/runtime";
import type { RunRequest } from "../run-request.js";

export interface Execution {
  readonly inputs: LiteralMap;
  readonly files: FileStore;
  readonly context: Context;
  /** Present for tasks that make or start others. */
  readonly registration: Registration | undefined;
  readonly collection: Collection | undefined;
}

/** Runs the function of a task. */
export async function execute(definition: TaskDefinition, execution: Execution, request: RunRequest): Promise<TaskResult> {
  const { registration, collection, ...rest } = execution;
  if (definition.execution.form === "eager") return (await import("../eager/run-eager.js")).runEager(definition, execution, request);
  return runTask(definition, { ...rest, ...(registration && { registration }), ...(collection && { collection }) });
}
