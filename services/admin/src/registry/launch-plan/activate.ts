import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { AdminDeps } from "../../deps.js";
import { missingEntity } from "../../platform/missing-entity.js";
import { findLaunchPlan, type StoredLaunchPlan } from "../store/launch-plans.js";
import { storeSchedule } from "./schedule.js";

type Deps = Pick<AdminDeps, "db" | "clock">;

/**
 * Activates a version of a launch plan: deactivates the active version and its schedule in the same transaction.
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

/** Serializes changes of a launch plan's active version. */
async function lockVersions(tx: Queryable, { project, domain, name }: Identifier): Promise<void> {
  await tx.query({
    text: "SELECT pg_advisory_xact_lock(hashtextextended('launch plan ' || $1 || '/' || $2 || '/' || $3, 0))",
    values: [project, domain, name],
  });
}

async function require(tx: Queryable, id: Identifier): Promise<StoredLaunchPlan> {
  const stored = await findLaunchPlan(tx, id);
  if (stored === undefined) throw missingEntity("LAUNCH_PLAN", id);
  return stored;
}

async function setState(tx: Queryable, { rowId, state, now }: { rowId: bigint; state: LaunchPlanState; now: Date }): Promise<void> {
  await tx.query({ text: "UPDATE launch_plans SET state = $2, updated_at = $3 WHERE id = $1", values: [rowId, state, now] });
}

async function deleteSchedule(tx: Queryable, launchPlanRowId: bigint): Promise<void> {
  await tx.query({ text: "DELETE FROM schedules WHERE launch_plan_id = $1", values: [launchPlanRowId] });
}

/** Deactivates the other versions of a launch plan, and returns their row ids. */
async function deactivateOthers(
  tx: Queryable,
  { project, domain, name }: Identifier,
  { rowId, now }: { readonly rowId: bigint; readonly now: Date },
): Promise<readonly bigint[]> {
  const { rows } = await tx.query<{ id: bigint }>({
    text: `UPDATE launch_plans SET state = $4, updated_at = $5
      WHERE project = $1 AND domain = $2 AND name = $3 AND state = $6 AND id <> $7 RETURNING id`,
    values: [project, domain, name, LaunchPlanState.INACTIVE, now, LaunchPlanState.ACTIVE, rowId],
  });
  return rows.map(({ id }) => id);
}
