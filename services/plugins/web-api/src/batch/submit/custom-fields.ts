import type { JsonValue } from "@bufbuild/protobuf";
import type { SubmitJobRequest } from "@aws-sdk/client-batch";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { z } from "zod";
import { badTask } from "../../task/bad-task.js";

/** Fields of a free `custom` object that are not null, by names in lower case: any case matches. */
export function customFields(template: TaskTemplate | undefined): ReadonlyMap<string, JsonValue> {
  const fields = Object.entries(template?.custom ?? {}).filter(([, value]) => value !== null);
  return new Map(fields.map(([name, value]) => [name.toLowerCase(), value]));
}

const texts = z.record(z.string(), z.coerce.string());
const submitFields = z.object({
  parameters: texts.optional(),
  schedulingpriority: z.coerce.number().int().optional(),
  schedulingpriorityoverride: z.coerce.number().int().optional(),
  shareidentifier: z.string().optional(),
  propagatetags: z.boolean().optional(),
  tags: texts.optional(),
});

type CustomSubmitFields = Pick<
  SubmitJobRequest,
  "parameters" | "schedulingPriorityOverride" | "shareIdentifier" | "propagateTags" | "tags"
>;

/**
 * Fields of SubmitJob that an `aws-batch` task sets in its custom.
 * @throws PermanentFailure for values of another type.
 */
export function customSubmitFields(template: TaskTemplate | undefined): CustomSubmitFields {
  const parsed = submitFields.safeParse(Object.fromEntries(customFields(template)));
  if (!parsed.success) throw badTask(`custom of the task: ${z.prettifyError(parsed.error)}`);
  const { parameters, schedulingpriority, schedulingpriorityoverride, shareidentifier, propagatetags, tags } = parsed.data;
  const priority = schedulingpriorityoverride ?? schedulingpriority;
  return {
    ...(parameters && { parameters }),
    ...(priority !== undefined && { schedulingPriorityOverride: priority }),
    ...(shareidentifier !== undefined && { shareIdentifier: shareidentifier }),
    ...(propagatetags !== undefined && { propagateTags: propagatetags }),
    ...(tags && { tags }),
  };
}
