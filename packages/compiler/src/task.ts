import type { CompiledTask } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { CompileErrors } from "./compile-error.js";

export type TaskCompilation =
  | { readonly ok: true; readonly compiled: CompiledTask }
  | { readonly ok: false; readonly errors: CompileErrors };

/** Checks a task template on its own: id, container, pod. */
export function compileTask(_template: TaskTemplate): TaskCompilation {
  throw new Error("not written yet");
}
