import { toJsonString } from "@bufbuild/protobuf";
import { TaskLogSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ExternalResourceInfoSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { TaskStatus } from "../status.js";

/** Equal for two statuses of one phase that show the user the same; times do not count. */
export function statusFingerprint(status: TaskStatus): string {
  const parts = [
    status.reason ?? "",
    ...(status.logs ?? []).map((log) => toJsonString(TaskLogSchema, log)),
    ...(status.externalResources ?? []).map((resource) => toJsonString(ExternalResourceInfoSchema, resource)),
  ];
  if (status.customInfo !== undefined) parts.push(JSON.stringify(status.customInfo));
  if (status.pluginState !== undefined) parts.push(Buffer.from(status.pluginState).toString("latin1"));
  return parts.join("\u0000");
}
