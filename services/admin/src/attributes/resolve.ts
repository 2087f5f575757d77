import { fromBinary } from "@bufbuild/protobuf";
import {
  type MatchableResource,
  type MatchingAttributes,
  MatchingAttributesSchema,
} from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { Queryable } from "@flyte-ts/postgres";

/** Where attributes hold: empty parts mean that the target is not that specific. */
export interface AttributeScope {
  readonly project: string;
  readonly domain?: string;
  readonly workflow?: string;
  readonly launchPlan?: string;
}

type Target = NonNullable<MatchingAttributes["target"]>;
type TargetCase = keyof TargetValues;
type TargetValues = { [T in Target as T extends { case: string } ? T["case"] : never]: T["value"] };

export interface StoredAttributes {
  readonly project: string;
  readonly domain: string;
  readonly workflow: string;
  readonly launchPlan: string;
  readonly attributes: MatchingAttributes;
}

export interface AttributeRow {
  project: string;
  domain: string;
  workflow: string;
  launch_plan: string;
  attributes: Uint8Array;
}

/**
 * The attributes of a kind that hold in a scope: those of the most specific level that
 * has any (launch plan, workflow, project and domain, project); undefined where no
 * level has.
 */
export async function findAttributes(db: Queryable, kind: MatchableResource, scope: AttributeScope): Promise<StoredAttributes | undefined> {
  const { project, domain = "", workflow = "", launchPlan = "" } = scope;
  const { rows } = await db.query<AttributeRow>({
    name: "find-attributes",
    text: `SELECT project, domain, workflow, launch_plan, attributes FROM matchable_attributes
      WHERE kind = $1 AND project = $2 AND domain IN ($3, '') AND workflow IN ($4, '') AND launch_plan IN ($5, '')
      ORDER BY priority DESC LIMIT 1`,
    values: [kind, project, domain, workflow, launchPlan],
  });
  return rows[0] && storedAttributes(rows[0]);
}

/** The value of {@link findAttributes}, when it is of the expected type. */
export async function resolveAttributes<Case extends TargetCase>(
  db: Queryable,
  { kind, target }: { readonly kind: MatchableResource; readonly target: Case },
  scope: AttributeScope,
): Promise<TargetValues[Case] | undefined> {
  const found = (await findAttributes(db, kind, scope))?.attributes.target;
  return found?.case === target ? (found.value as TargetValues[Case]) : undefined;
}

export function storedAttributes(row: AttributeRow): StoredAttributes {
  const { project, domain, workflow, launch_plan: launchPlan } = row;
  return { project, domain, workflow, launchPlan, attributes: fromBinary(MatchingAttributesSchema, row.attributes) };
}
