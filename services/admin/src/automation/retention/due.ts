import type { Queryable } from "@flyte-ts/postgres";
import type { RetentionConfig } from "./config-schema.js";
import { effectivePolicy, policiesFor, type Policy } from "../store/retention-policies.js";
import { expiryQueries } from "../../executions/index.js";

const DAY_SECONDS = 86_400;
/** Unlimited retention, seconds. Before now, it is still a time that PostgreSQL can store. */
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
  const configured = config.keepDays === 0 ? FOREVER : Math.min(config.keepDays * DAY_SECONDS, FOREVER);
  const seconds = general === undefined ? configured : retentionOf(general);
  const own = policies.filter(({ workflow }) => workflow !== "");
  const retentions = own.map(retentionOf);
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

function retentionOf({ keepSeconds }: Policy): number {
  return Math.min(Number(keepSeconds ?? FOREVER), FOREVER);
}
