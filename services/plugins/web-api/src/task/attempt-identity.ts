import { createHash } from "node:crypto";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * Identity of an attempt, 64 hexadecimal digits. The generated name alone does not identify it: the
 * name of a deleted execution may be used again.
 */
export function attemptHash({ namespace, owner, generatedName }: TaskRequest): string {
  return createHash("sha256")
    .update(`${namespace}/${owner?.uid ?? ""}/${generatedName}`)
    .digest("hex");
}
