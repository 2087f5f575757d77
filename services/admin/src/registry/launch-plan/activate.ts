import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { RegistryDeps } from "../deps.js";
import { missingEntity } from "../../platform/index.js";
import { deactivateOthers, findLaunchPlan, lockVersions, setState, type StoredLaunchPlan } from "../store/launch-plans.js";
import { storeSchedule } from "./schedule.js";
import { deleteSchedule } from "../store/schedules.js";

type Deps = Pick<RegistryDeps, "db" | "clock">;

/**
 * Activates a version of a launch plan: deactivates the active version and its schedule in the same
 * transaction.
 *
 * @throws RpcError NOT_FOUND.
 */
export async function activateLaunchPlan({ db, clock }: Deps, id: Identifier): Promise<void> {
  const now = clock();
  await db.transaction(async (tx) => {
    await lockVersions(tx, id);
    const { rowId, launchPlan } = await require(tx, id);
    for (const former of await deactivateOthers(tx, id, { rowId, now })) await deleteSchedule(tx, former);
    await setState(tx, { rowId, state: LaunchPlanState.ACTIVE, now });
    await storeSchedule(tx, { launchPlanRowId: rowId, spec: launchPlan.spec, now });
  });
}

/**
 * Deactivates a version and its schedule.
 *
 * @throws RpcError NOT_FOUND.
 */
export async function deactivateLaunchPlan({ db, clock }: Deps, id: Identifier): Promise<void> {
  await db.transaction(async (tx) => {
    await lockVersions(tx, id);
    const { rowId } = await require(tx, id);
    await setState(tx, { rowId, state: LaunchPlanState.INACTIVE, now: clock() });
    await deleteSchedule(tx, rowId);
  });
}

async function require(tx: Queryable, id: Identifier): Promise<StoredLaunchPlan> {
  const stored = await findLaunchPlan(tx, id);
  if (stored === undefined) throw missingEntity("LAUNCH_PLAN", id);
  return stored;
}
