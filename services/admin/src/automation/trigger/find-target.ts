import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findActiveLaunchPlan, findLaunchPlan, type StoredLaunchPlan } from "../../registry/index.js";

/** Finds the launch plan that a trigger starts now: the named version, or the active one. */
export function findTarget(db: Queryable, launchPlan: Identifier): Promise<StoredLaunchPlan | undefined> {
  return launchPlan.version === "" ? findActiveLaunchPlan(db, launchPlan) : findLaunchPlan(db, launchPlan);
}
