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
import { RunFailure, userError } from "../failure/failure.js";

export interface Execution {
  readonly inputs: LiteralMap;
  readonly files: FileStore;
  readonly context: Context;
  /** Present for tasks that make or start others. */
  readonly registration: Registration | undefined;
  readonly collection: Collection | undefined;
}

/** Runs the function of a task. */
export async function execute(definition: TaskDefinition, execution: Execution): Promise<TaskResult> {
  const { registration, collection, ...rest } = execution;
  if (definition.execution.form === "eager")
    throw new RunFailure("this runtime runs no eager tasks; update @flyte-ts/cli", userError("NotSupported"));
  return runTask(definition, { ...rest, ...(registration && { registration }), ...(collection && { collection }) });
}
