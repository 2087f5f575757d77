import { fromBinary } from "@bufbuild/protobuf";
import {
  type MatchableResource,
  type MatchingAttributes,
  MatchingAttributesSchema,
} from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { Queryable } from "@flyte-ts/postgres";

/** Scope of attributes: an empty part means that the scope is not that specific. */
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
 * Finds the attributes of a kind for a scope: those of the most specific level that has any (launch
 * plan, workflow, project and domain, project); undefined without any.
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

/** Returns the value of {@link findAttributes} when it has the expected type. */
export async function resolveAttributes<Case extends TargetCase>(
  db: Queryable,
  { kind, target }: { readonly kind: MatchableResource; readonly target: Case },
  scope: AttributeScope,
): Promise<TargetValues[Case] | undefined> {
  const found = (await findAttributes(db, kind, scope))?.attributes.target;
  return found?.case === target ? (found.value as TargetValues[Case]) : undefined;
}

/** One query of {@link resolveAttributesBatch}. */
export interface AttributeQuery {
  readonly kind: MatchableResource;
  /** Expected type. */
  readonly target: TargetCase;
  readonly scope: AttributeScope;
}

/** Resolves several queries of {@link resolveAttributes} with one statement. */
export async function resolveAttributesBatch<Questions extends Readonly<Record<string, AttributeQuery>>>(
  db: Queryable,
  queries: Questions,
): Promise<{ readonly [Name in keyof Questions]: TargetValues[Questions[Name]["target"]] | undefined }> {
  const query = Object.entries(queries);
  const scopes = query.map(([, { scope }]) => scope);
  const { rows } = await db.query<{ place: bigint; attributes: Uint8Array }>({
    name: "find-attributes-of-all",
    text: `SELECT asked.place, found.attributes
      FROM unnest($1::int[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY
        AS asked(kind, project, domain, workflow, launch_plan, place)
      CROSS JOIN LATERAL (
        SELECT attributes FROM matchable_attributes AS a
        WHERE a.kind = asked.kind AND a.project = asked.project COLLATE "C" AND a.domain IN (asked.domain COLLATE "C", '')
          AND a.workflow IN (asked.workflow COLLATE "C", '') AND a.launch_plan IN (asked.launch_plan COLLATE "C", '')
        ORDER BY a.priority DESC LIMIT 1
      ) AS found`,
    values: [
      query.map(([, { kind }]) => kind),
      scopes.map(({ project }) => project),
      scopes.map(({ domain = "" }) => domain),
      scopes.map(({ workflow = "" }) => workflow),
      scopes.map(({ launchPlan = "" }) => launchPlan),
    ],
  });
  const results: Record<string, unknown> = {};
  for (const row of rows) {
    const [name, { target }] = query[Number(row.place) - 1] as [string, AttributeQuery];
    const found = fromBinary(MatchingAttributesSchema, row.attributes).target;
    if (found.case === target) results[name] = found.value;
  }
  return results as { readonly [Name in keyof Questions]: TargetValues[Questions[Name]["target"]] | undefined };
}

/** Lists the attributes of a project and domain and of everything in it, by kind and precedence. */
export async function listScopeAttributes(
  db: Queryable,
  { project, domain }: { readonly project: string; readonly domain: string },
  limit: number,
): Promise<readonly StoredAttributes[]> {
  const { rows } = await db.query<AttributeRow>({
    name: "list-scope-attributes",
    text: `SELECT project, domain, workflow, launch_plan, attributes FROM matchable_attributes
      WHERE project = $1 AND domain IN ($2, '') ORDER BY kind, priority DESC, workflow, launch_plan LIMIT $3`,
    values: [project, domain, limit],
  });
  return rows.map(storedAttributes);
}

export function storedAttributes(row: AttributeRow): StoredAttributes {
  const { project, domain, workflow, launch_plan: launchPlan } = row;
  return { project, domain, workflow, launchPlan, attributes: fromBinary(MatchingAttributesSchema, row.attributes) };
}

/** Lists all attributes of a kind, those of the most specific scopes first. */
export async function listAttributes(db: Queryable, kind: MatchableResource): Promise<readonly StoredAttributes[]> {
  const { rows } = await db.query<AttributeRow>({
    text: `SELECT project, domain, workflow, launch_plan, attributes FROM matchable_attributes
      WHERE kind = $1 ORDER BY priority DESC, id`,
    values: [kind],
  });
  return rows.map(storedAttributes);
}
