import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findActiveLaunchPlan, findLaunchPlan, type StoredLaunchPlan } from "../launch-plan/find.js";

/** The launch plan that a trigger starts now: the version that it names, or the one that is active. */
export function findTarget(db: Queryable, launchPlan: Identifier): Promise<StoredLaunchPlan | undefined> {
  return launchPlan.version === "" ? findActiveLaunchPlan(db, launchPlan) : findLaunchPlan(db, launchPlan);
}
