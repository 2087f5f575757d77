import { createHash } from "node:crypto";

/**
 * Name of the execution that a trigger starts for a cause: always the same, so that who starts it again starts nothing.
 *
 * @param trigger what tells it from all others, also from one of the same name that was removed.
 */
export function triggeredExecutionName(trigger: string, cause: string): string {
  return `t${createHash("sha256")
    .update(JSON.stringify([trigger, cause]))
    .digest("hex")
    .slice(0, 31)}`;
}
