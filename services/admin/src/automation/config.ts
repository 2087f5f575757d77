import { z } from "zod";
import type { ExecutionsConfig } from "../executions/index.js";
import type { IdentityConfig } from "../identity/index.js";
import { notificationsSchema } from "./notification/config-schema.js";
import { retentionSchema } from "./retention/config-schema.js";
import { triggersSchema } from "./trigger/config-schema.js";

const settings = z.strictObject({
  notifications: notificationsSchema,
  triggers: triggersSchema,
  retention: retentionSchema.prefault({}),
});

export const automationSettings = settings.shape;
export type AutomationConfig = ExecutionsConfig & IdentityConfig & z.infer<typeof settings>;
