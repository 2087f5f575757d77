import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  MatchableResource,
  type MatchingAttributes,
  MatchingAttributesSchema,
  type PluginOverride,
} from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { Database, Queryable } from "@flyte-ts/postgres";
import { toLenientJson } from "@flyte-ts/rpc";
import { checkText, invalidArgument, missingArgument, rejectNul } from "../../platform/index.js";
import type { AttributeScope } from "./attribute-lookup.js";

/** The matching row with the highest priority wins. */
const priorities = { project: 5, domain: 10, workflow: 100, launchPlan: 1000 } as const;

/**
 * Returns the kind of attributes in a message.
 *
 * @throws RpcError INVALID_ARGUMENT when there are none, or a kind that cannot be set.
 */
export function kindOf(attributes: MatchingAttributes | undefined): MatchableResource {
  if (attributes === undefined) throw missingArgument("matching_attributes");
  const { target } = attributes;
  switch (target.case) {
    case "taskResourceAttributes":
      return MatchableResource.TASK_RESOURCE;
    case "clusterResourceAttributes":
      return MatchableResource.CLUSTER_RESOURCE;
    case "executionQueueAttributes":
      return MatchableResource.EXECUTION_QUEUE;
    case "executionClusterLabel":
      return MatchableResource.EXECUTION_CLUSTER_LABEL;
    case "pluginOverrides":
      return MatchableResource.PLUGIN_OVERRIDE;
    case "workflowExecutionConfig":
      return MatchableResource.WORKFLOW_EXECUTION_CONFIG;
    case "clusterAssignment":
      return MatchableResource.CLUSTER_ASSIGNMENT;
    case "qualityOfService":
    case undefined:
      throw invalidArgument(`Unrecognized matching attributes type: ${target.case ?? "no target is set"}`);
    default:
      return target satisfies never;
  }
}

interface NewAttributes {
  readonly kind: MatchableResource;
  readonly scope: AttributeScope;
  readonly attributes: MatchingAttributes;
  readonly now: Date;
}

/**
 * Sets the attributes of exactly this scope; merges plugin overrides with the stored ones by task
 * type.
 *
 * @throws RpcError INVALID_ARGUMENT for a NUL character, which would prevent storing executions in
 *   this scope.
 */
export async function storeAttributes(db: Database, { kind, scope, attributes, now }: NewAttributes): Promise<void> {
  rejectNul(toLenientJson(MatchingAttributesSchema, attributes, { useProtoFieldName: true }), "matching_attributes");
  const key = keyOf(kind, scope);
  await db.transaction(async (tx) => {
    const merged = kind === MatchableResource.PLUGIN_OVERRIDE ? await withExistingOverrides(tx, key, attributes) : attributes;
    await tx.query({
      text: `INSERT INTO matchable_attributes (kind, project, domain, workflow, launch_plan, priority, attributes, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8)
        ON CONFLICT (kind, project, domain, workflow, launch_plan)
        DO UPDATE SET attributes = excluded.attributes, updated_at = excluded.updated_at`,
      values: [...key, priorityOf(scope), toBinary(MatchingAttributesSchema, merged), now],
    });
  });
}

/** Deletes the attributes of exactly this scope; no-op without any. */
export async function deleteAttributes(db: Queryable, kind: MatchableResource, scope: AttributeScope): Promise<void> {
  await db.query({
    text: `DELETE FROM matchable_attributes
      WHERE kind = $1 AND project = $2 AND domain = $3 AND workflow = $4 AND launch_plan = $5`,
    values: keyOf(kind, scope),
  });
}

type Key = [kind: MatchableResource, project: string, domain: string, workflow: string, launchPlan: string];

function keyOf(kind: MatchableResource, { project, domain = "", workflow = "", launchPlan = "" }: AttributeScope): Key {
  checkText(project, "project");
  return [kind, project, domain, workflow, launchPlan];
}

function priorityOf({ domain = "", workflow = "", launchPlan = "" }: AttributeScope): number {
  if (launchPlan !== "") return priorities.launchPlan;
  if (workflow !== "") return priorities.workflow;
  return domain === "" ? priorities.project : priorities.domain;
}

async function withExistingOverrides(tx: Queryable, key: Key, attributes: MatchingAttributes): Promise<MatchingAttributes> {
  await tx.query({ text: "SELECT pg_advisory_xact_lock(hashtextextended('attributes ' || $1, 0))", values: [JSON.stringify(key)] });
  const { rows } = await tx.query<{ attributes: Uint8Array }>({
    text: `SELECT attributes FROM matchable_attributes
      WHERE kind = $1 AND project = $2 AND domain = $3 AND workflow = $4 AND launch_plan = $5`,
    values: key,
  });
  const before = rows[0] === undefined ? undefined : fromBinary(MatchingAttributesSchema, rows[0].attributes);
  const byType = new Map<string, PluginOverride>();
  for (const override of [...overridesOf(before), ...overridesOf(attributes)]) byType.set(override.taskType, override);
  return create(MatchingAttributesSchema, { target: { case: "pluginOverrides", value: { overrides: [...byType.values()] } } });
}

function overridesOf(attributes: MatchingAttributes | undefined): readonly PluginOverride[] {
  return attributes?.target.case === "pluginOverrides" ? attributes.target.value.overrides : [];
}
