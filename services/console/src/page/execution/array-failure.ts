import type { TaskExecutionJson } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";

/** Plugin whose attempts have items with logs of their own. */
const ARRAY = "k8s-array";

/** Reports whether an attempt is that of an array node. */
export function isArrayAttempt({ closure }: TaskExecutionJson): boolean {
  return closure?.metadata?.pluginIdentifier === ARRAY;
}

/** Returns the index of the first item that an array's error names: `[3-5][9]: message`. */
export function firstFailedItem(message: string): string | undefined {
  return /^\[(\d{1,9})(?:-\d+)?\]/.exec(message)?.[1];
}
