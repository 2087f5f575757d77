import { createHash } from "node:crypto";

/**
 * Name of the execution that a trigger starts for a cause; deterministic, so that a repeated start
 * has no effect.
 *
 * @param trigger unique id of the trigger, which distinguishes it also from a removed one of the
 *   same name.
 */
export function triggeredExecutionName(trigger: string, cause: string): string {
  return `t${createHash("sha256")
    .update(JSON.stringify([trigger, cause]))
    .digest("hex")
    .slice(0, 31)}`;
}
