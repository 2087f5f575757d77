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
  /** Registers work for when the attempt fails and no other one follows. */
  readonly onFailure: (work: () => Promise<void>) => void;
}

/** Runs the function of a task. */
export async function execute(definition: TaskDefinition, execution: Execution, request: RunRequest): Promise<TaskResult> {
  const { registration, collection, inputs, files, context } = execution;
  if (definition.execution.form === "eager") return (await import("../eager/run-eager.js")).runEager(definition, execution, request);
  return runTask(definition, { inputs, files, context, ...(registration && { registration }), ...(collection && { collection }) });
}
