import type { Queryable } from "@flyte-ts/postgres";
import type { RetentionConfig } from "./config-schema.js";
import { effectivePolicy, policiesFor } from "../store/retention-policies.js";
import { expiryQueries } from "../../executions/index.js";

const DAY_SECONDS = 86_400;
/** Unlimited retention, seconds. */
const FOREVER = 5e10;

/**
 * Returns terminal executions that have not changed during the retention of their policy, oldest
 * first. Excludes children of existing executions, which are deleted with their parent, and
 * executions in deletion.
 */
export async function expiredExecutions(
  db: Queryable,
  config: RetentionConfig,
  { place, now, limit, after }: expiryQueries.ExpiryOptions,
): Promise<readonly expiryQueries.Expired[]> {
  const policies = await policiesFor(db, place);
  const general = effectivePolicy(policies, "");
  const configured = config.keepDays === 0 ? FOREVER : config.keepDays * DAY_SECONDS;
  const seconds = general === undefined ? configured : Number(general.keepSeconds ?? FOREVER);
  const own = policies.filter(({ workflow }) => workflow !== "");
  const retentions = own.map(({ keepSeconds }) => Number(keepSeconds ?? FOREVER));
  if (Math.min(seconds, ...retentions) >= FOREVER) return [];
  return expiryQueries.findExpired(db, {
    place,
    now,
    limit,
    after,
    seconds,
    own: own.map(({ workflow }, index) => ({ workflow, seconds: retentions[index] ?? FOREVER })),
  });
}
