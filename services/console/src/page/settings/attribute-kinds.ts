import type { MatchableAttributesConfigurationJson, MatchingAttributesJson } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { AttributePlace } from "../../api/platform-api.js";
import type { Scope } from "../../api/scope.js";
import { isGiven } from "../../format/given.js";

export interface AttributeKind {
  /** Field of `MatchingAttributes`. */
  readonly field: keyof MatchingAttributesJson;
  /** Name of `MatchableResource`. */
  readonly resource: string;
  readonly title: string;
  /** Value that the form of a new attribute begins with. */
  readonly example: object;
}

export const ATTRIBUTE_KINDS: readonly AttributeKind[] = [
  {
    field: "taskResourceAttributes",
    resource: "TASK_RESOURCE",
    title: "Task resources",
    example: { defaults: { cpu: "500m", memory: "500Mi" }, limits: { cpu: "4", memory: "8Gi" } },
  },
  {
    field: "workflowExecutionConfig",
    resource: "WORKFLOW_EXECUTION_CONFIG",
    title: "Execution defaults",
    example: { maxParallelism: 25 },
  },
  { field: "clusterAssignment", resource: "CLUSTER_ASSIGNMENT", title: "Pool of data planes", example: { clusterPoolName: "gpu" } },
  { field: "executionClusterLabel", resource: "EXECUTION_CLUSTER_LABEL", title: "Label of data planes", example: { value: "gpu" } },
  {
    field: "clusterResourceAttributes",
    resource: "CLUSTER_RESOURCE",
    title: "Values of cluster resources",
    example: { attributes: { projectQuotaCpu: "64" } },
  },
  { field: "executionQueueAttributes", resource: "EXECUTION_QUEUE", title: "Queues", example: { tags: ["default"] } },
  {
    field: "qualityOfService",
    resource: "QUALITY_OF_SERVICE_SPECIFICATION",
    title: "Quality of service",
    example: { spec: { queueingBudget: "600s" } },
  },
  {
    field: "pluginOverrides",
    resource: "PLUGIN_OVERRIDE",
    title: "Plugins by task type",
    example: { overrides: [{ taskType: "python-task", pluginId: ["container"] }] },
  },
];

/** An attribute with its place, and whether it is in effect for the whole domain. */
export interface AttributeRow {
  readonly kind: AttributeKind;
  readonly value: unknown;
  readonly domain: string;
  readonly workflow: string;
  readonly launchPlan: string;
  /** Narrower place whose value is used instead, in the domain; undefined: in effect. */
  readonly overriddenBy: string | undefined;
}

/** Returns attributes by kind, the narrowest place first, as the server lists them. */
export function attributeRows(configurations: readonly MatchableAttributesConfigurationJson[]): readonly AttributeRow[] {
  const rows = configurations.flatMap(({ attributes, domain = "", workflow = "", launchPlan = "" }) => {
    const kind = ATTRIBUTE_KINDS.find(({ field }) => isGiven(attributes?.[field]));
    return kind === undefined ? [] : [{ kind, value: withoutEmpty(attributes?.[kind.field]), domain, workflow, launchPlan }];
  });
  return rows.map((row) => {
    const isProject = row.domain === "";
    const narrower = isProject && rows.some(({ kind, domain, workflow }) => kind === row.kind && domain !== "" && workflow === "");
    return { ...row, overriddenBy: narrower ? "the domain" : undefined };
  });
}

/** Fields in which false is a setting: null is none. */
const OPTIONAL_BOOLEANS: ReadonlySet<string> = new Set(["interruptible"]);
/** Fields with maps, whose entries are given, also those with an empty text. */
const MAPS: ReadonlySet<string> = new Set(["attributes", "values"]);

/** Returns a message in its JSON form without fields that have no value. */
export function withoutEmpty(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutEmpty(item));
  if (typeof value !== "object" || value === null) return value;
  const given = Object.entries(value).filter(([name, field]) => isMap || !isEmpty(name, field));
  return Object.fromEntries(given.map(([name, field]) => [name, withoutEmpty(field, MAPS.has(name))]));
}

function isEmpty(name: string, value: unknown): boolean {
  if (value === false && OPTIONAL_BOOLEANS.has(name)) return false;
  return value === null || value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0);
}

/** Returns the place of an attribute that can be changed; launch plans have only those of old. */
export function changedPlace(
  { project, domain }: Scope,
  row: Pick<AttributeRow, "domain" | "workflow" | "launchPlan">,
): AttributePlace | undefined {
  if (row.launchPlan !== "") return undefined;
  if (row.domain === "") return { project };
  return row.workflow === "" ? { project, domain } : { project, domain, workflow: row.workflow };
}

/** Describes the place of an attribute. */
export function attributePlace({ domain, workflow, launchPlan }: Pick<AttributeRow, "domain" | "workflow" | "launchPlan">): string {
  if (launchPlan !== "") return `launch plan ${launchPlan}`;
  if (workflow !== "") return `workflow ${workflow}`;
  return domain === "" ? "the project" : `domain ${domain}`;
}
