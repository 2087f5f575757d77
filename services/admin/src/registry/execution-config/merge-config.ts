import { create } from "@bufbuild/protobuf";
import { AnnotationsSchema, EnvsSchema, LabelsSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { ExecutionSpec } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { LaunchPlanSpec } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type WorkflowExecutionConfig, WorkflowExecutionConfigSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { IdentitySchema, type SecurityContext, SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { RegistryConfig } from "../config.js";

/** Settings of an execution that several sources can set. */
export type ConfigSource = Pick<
  WorkflowExecutionConfig,
  "maxParallelism" | "securityContext" | "rawOutputDataConfig" | "labels" | "annotations" | "interruptible" | "overwriteCache" | "envs"
>;

export interface ConfigSources {
  readonly request: ExecutionSpec;
  /** Undefined for the execution of a single task. */
  readonly launchPlan: LaunchPlanSpec | undefined;
  /** Applicable attributes WORKFLOW_EXECUTION_CONFIG, most specific first. */
  readonly attributes: readonly WorkflowExecutionConfig[];
  readonly defaults: RegistryConfig["executionDefaults"];
}

/**
 * Merges settings by precedence: request, launch plan, attributes, configuration.
 * Maps are not merged. The cache is overwritten when any source says so. A security context counts
 * only with a role, an account or an identity; the deprecated fields of request and launch plan
 * precede the configuration's.
 */
export function mergeConfig({ request, launchPlan, attributes, defaults }: ConfigSources): WorkflowExecutionConfig {
  const sides: ConfigSource[] = [request, ...(launchPlan === undefined ? [] : [launchPlan]), ...attributes];
  const configured = configuredDefaults(defaults);
  const merged = mergeSettings([...sides, { ...configured, securityContext: undefined }]);
  const context =
    first(sides, ({ securityContext }) => (namesIdentity(securityContext) ? securityContext : undefined)) ??
    legacyContext(request, launchPlan) ??
    (namesIdentity(configured.securityContext) ? configured.securityContext : undefined) ??
    create(SecurityContextSchema);
  return { ...merged, securityContext: { ...context, runAs: context.runAs ?? create(IdentitySchema) } };
}

/** Merges every setting except the security context from the first source that has it. */
export function mergeSettings(sides: readonly ConfigSource[]): WorkflowExecutionConfig {
  const merged = create(WorkflowExecutionConfigSchema, {
    maxParallelism: first(sides, ({ maxParallelism }) => (maxParallelism > 0 ? maxParallelism : undefined)) ?? 0,
    overwriteCache: sides.some(({ overwriteCache }) => overwriteCache),
  });
  const rawOutputDataConfig = first(sides, ({ rawOutputDataConfig: config }) => (config?.outputLocationPrefix ? config : undefined));
  const labels = first(sides, ({ labels: given }) => (Object.keys(given?.values ?? {}).length > 0 ? given : undefined));
  const annotations = first(sides, ({ annotations: given }) => (Object.keys(given?.values ?? {}).length > 0 ? given : undefined));
  const interruptible = first(sides, (side) => side.interruptible);
  const envs = first(sides, ({ envs: given }) => ((given?.values.length ?? 0) > 0 ? given : undefined));
  if (rawOutputDataConfig !== undefined) merged.rawOutputDataConfig = rawOutputDataConfig;
  if (labels !== undefined) merged.labels = labels;
  if (annotations !== undefined) merged.annotations = annotations;
  if (interruptible !== undefined) merged.interruptible = interruptible;
  if (envs !== undefined) merged.envs = envs;
  return merged;
}

function first<Side, T>(sides: readonly Side[], pick: (side: Side) => T | undefined): T | undefined {
  for (const side of sides) {
    const picked = pick(side);
    if (picked !== undefined) return picked;
  }
  return undefined;
}

/** True when a security context names an identity. */
export function namesIdentity(context: SecurityContext | undefined): boolean {
  const runAs = context?.runAs;
  return runAs !== undefined && (runAs.k8sServiceAccount !== "" || runAs.iamRole !== "" || runAs.executionIdentity !== "");
}

/** Converts the deprecated role fields, which preceded security contexts. */
function legacyContext(request: ExecutionSpec, launchPlan: LaunchPlanSpec | undefined): SecurityContext | undefined {
  const auth = request.authRole ??
    launchPlan?.authRole ??
    launchPlan?.auth ?? { assumableIamRole: launchPlan?.role ?? "", kubernetesServiceAccount: "" };
  if (auth.assumableIamRole === "" && auth.kubernetesServiceAccount === "") return undefined;
  const runAs = create(IdentitySchema, { iamRole: auth.assumableIamRole, k8sServiceAccount: auth.kubernetesServiceAccount });
  return create(SecurityContextSchema, { runAs });
}

/** Configured settings of every execution. */
export function configuredDefaults(defaults: RegistryConfig["executionDefaults"]): ConfigSource {
  return create(WorkflowExecutionConfigSchema, {
    maxParallelism: defaults.maxParallelism,
    securityContext: create(SecurityContextSchema, {
      runAs: create(IdentitySchema, { iamRole: defaults.assumableIamRole, k8sServiceAccount: defaults.k8sServiceAccount }),
    }),
    labels: create(LabelsSchema, { values: defaults.labels }),
    annotations: create(AnnotationsSchema, { values: defaults.annotations }),
    // A configured false counts as unset: it would override the workflow's own setting.
    ...(defaults.interruptible && { interruptible: true }),
    overwriteCache: defaults.overwriteCache,
    envs: create(EnvsSchema, { values: Object.entries(defaults.envs).map(([key, value]) => ({ key, value })) }),
  });
}
