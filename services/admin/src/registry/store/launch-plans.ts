import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type LaunchPlan,
  LaunchPlanClosureSchema,
  LaunchPlanSchema,
  LaunchPlanSpecSchema,
  LaunchPlanState,
} from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { type ListEntity, type ListPlan, selectPage, versionedColumns } from "../../platform/index.js";
import { workflowEntity } from "./workflows.js";

export interface StoredLaunchPlan {
  /** Row id; executions refer to it. */
  readonly rowId: bigint;
  readonly workflowRowId: bigint;
  readonly digest: Uint8Array;
  /** Size of spec and closure. */
  readonly encodedBytes: number;
  /** The launch plan in the form of the API, with state and times in its closure. */
  readonly launchPlan: LaunchPlan;
}

export interface LaunchPlanRow {
  readonly id: bigint;
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly version: string;
  readonly workflow_id: bigint;
  readonly spec: Uint8Array;
  readonly closure: Uint8Array;
  readonly digest: Uint8Array;
  readonly state: LaunchPlanState;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export const launchPlanColumnNames = [
  "id",
  "project",
  "domain",
  "name",
  "version",
  "workflow_id",
  "spec",
  "closure",
  "digest",
  "state",
  "created_at",
  "updated_at",
]
  .map((name) => `launch_plans.${name}`)
  .join(", ");

/** Finds one version of a launch plan; undefined when it is not registered. */
export async function findLaunchPlan(db: Queryable, id: Identifier): Promise<StoredLaunchPlan | undefined> {
  const { rows } = await db.query<LaunchPlanRow>({
    name: "find-launch-plan",
    text: `SELECT ${launchPlanColumnNames} FROM launch_plans WHERE project = $1 AND domain = $2 AND name = $3 AND version = $4`,
    values: [id.project, id.domain, id.name, id.version],
  });
  return rows[0] && storedLaunchPlan(rows[0]);
}

/** Finds the active version; undefined without one. */
export async function findActiveLaunchPlan(
  db: Queryable,
  { project, domain, name }: { readonly project: string; readonly domain: string; readonly name: string },
): Promise<StoredLaunchPlan | undefined> {
  const { rows } = await db.query<LaunchPlanRow>({
    name: "find-active-launch-plan",
    text: `SELECT ${launchPlanColumnNames} FROM launch_plans WHERE project = $1 AND domain = $2 AND name = $3 AND state = 1`,
    values: [project, domain, name],
  });
  return rows[0] && storedLaunchPlan(rows[0]);
}

export function storedLaunchPlan(row: LaunchPlanRow): StoredLaunchPlan {
  const closure = fromBinary(LaunchPlanClosureSchema, row.closure);
  const { project, domain, name, version } = row;
  return {
    rowId: row.id,
    workflowRowId: row.workflow_id,
    digest: row.digest,
    encodedBytes: row.spec.length + row.closure.length,
    launchPlan: create(LaunchPlanSchema, {
      id: create(IdentifierSchema, { resourceType: ResourceType.LAUNCH_PLAN, project, domain, name, version }),
      spec: fromBinary(LaunchPlanSpecSchema, row.spec),
      closure: {
        ...closure,
        state: row.state,
        createdAt: timestampFromDate(row.created_at),
        updatedAt: timestampFromDate(row.updated_at),
      },
    }),
  };
}

/** Serializes changes of a launch plan's active version. */
export async function lockVersions(tx: Queryable, { project, domain, name }: Identifier): Promise<void> {
  await tx.query({
    text: "SELECT pg_advisory_xact_lock(hashtextextended('launch plan ' || $1 || '/' || $2 || '/' || $3, 0))",
    values: [project, domain, name],
  });
}

export async function setState(tx: Queryable, { rowId, state, now }: { rowId: bigint; state: LaunchPlanState; now: Date }): Promise<void> {
  await tx.query({ text: "UPDATE launch_plans SET state = $2, updated_at = $3 WHERE id = $1", values: [rowId, state, now] });
}

/** Deactivates the other versions of a launch plan, and returns their row ids. */
export async function deactivateOthers(
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

export interface LaunchPlanInsert {
  readonly id: Identifier;
  readonly workflowRowId: bigint;
  /** Encoded LaunchPlanSpec. */
  readonly spec: Uint8Array;
  /** Encoded LaunchPlanClosure. */
  readonly closure: Uint8Array;
  readonly digest: Uint8Array;
  readonly scheduleType: "NONE" | "CRON" | "RATE";
  readonly now: Date;
}

/** Stores a version of a launch plan. Returns false when it exists. */
export async function insertLaunchPlan(tx: Queryable, plan: LaunchPlanInsert): Promise<boolean> {
  const { id, workflowRowId, spec, closure, digest, scheduleType: type, now } = plan;
  const condition = type === "NONE" ? null : "SCHED";
  const { rowCount } = await tx.query({
    name: "create-launch-plan",
    text: `INSERT INTO launch_plans (project, domain, name, version, workflow_id, spec, closure, digest, schedule_type, launch_condition_type, created_at, updated_at)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11) ON CONFLICT DO NOTHING`,
    values: [id.project, id.domain, id.name, id.version, workflowRowId, spec, closure, digest, type, condition, now],
  });
  return rowCount > 0;
}

export async function listLaunchPlans(db: Queryable, plan: ListPlan): Promise<readonly StoredLaunchPlan[]> {
  const { rows } = await db.query<LaunchPlanRow>(selectPage(plan, launchPlanColumnNames));
  return rows.map(storedLaunchPlan);
}

/** Filters and sort keys of ListLaunchPlans. */
export const launchPlanEntity: ListEntity = {
  prefix: "launch_plan",
  table: "launch_plans",
  key: "id",
  columns: {
    ...versionedColumns,
    spec: { type: "bytes" },
    workflow_id: { type: "int8" },
    closure: { type: "bytes" },
    state: { type: "int4" },
    digest: { type: "bytes" },
    schedule_type: { type: "text" },
    launch_condition_type: { type: "text" },
  },
  related: {
    workflow: {
      kind: "join",
      table: workflowEntity.table,
      columns: workflowEntity.columns,
      on: "launch_plans.workflow_id = workflows.id",
    },
  },
};
