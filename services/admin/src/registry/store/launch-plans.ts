import { create, fromBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type LaunchPlan,
  LaunchPlanClosureSchema,
  LaunchPlanSchema,
  LaunchPlanSpecSchema,
  type LaunchPlanState,
} from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";

export interface StoredLaunchPlan {
  /** Row id; executions refer to it. */
  readonly rowId: bigint;
  readonly workflowRowId: bigint;
  readonly digest: Uint8Array;
  /** Size of spec and closure. */
  readonly encodedBytes: number;
  /** The launch plan of the API, with state and times in its closure. */
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
