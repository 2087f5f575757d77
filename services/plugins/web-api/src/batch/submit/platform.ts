import type { PlatformCapability } from "@aws-sdk/client-batch";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { badTask } from "../../task/bad-task.js";
import { customFields } from "./custom-fields.js";

/**
 * Platform of the job: the first of `platformCapabilities` in the task's config or custom; EC2 by
 * default.
 */
export function platformOf(template: TaskTemplate | undefined): PlatformCapability {
  const fromCustom = customFields(template).get("platformcapabilities");
  const declared = template?.config.platformCapabilities ?? (Array.isArray(fromCustom) ? fromCustom[0] : fromCustom);
  const name = typeof declared === "string" && declared !== "" ? declared.toUpperCase() : "EC2";
  if (name === "EC2" || name === "FARGATE") return name;
  throw badTask(`platformCapabilities ${JSON.stringify(declared)}: EC2 or FARGATE is needed`);
}
