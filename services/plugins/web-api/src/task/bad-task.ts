import { PermanentFailure } from "@flyte-ts/task-plugin";

/** Failure of a task whose specification cannot work. */
export function badTask(message: string): PermanentFailure {
  return new PermanentFailure({ code: "BadTaskSpecification", message });
}
