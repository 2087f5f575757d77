import { create } from "@bufbuild/protobuf";
import { type WorkflowExecutionConfig, WorkflowExecutionConfigSchema } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { SecurityContext } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { AdminConfig } from "../config.js";

/** The settings of executions that request, launch plan and attributes may share. */
export type ExecutionSettings = Pick<
  WorkflowExecutionConfig,
  "maxParallelism" | "securityContext" | "rawOutputDataConfig" | "labels" | "annotations" | "interruptible" | "overwriteCache" | "envs"
>;

/** What executions get when nobody says otherwise. */
export function configuredExecutionSettings({ executionDefaults }: Pick<AdminConfig, "executionDefaults">): WorkflowExecutionConfig {
  const { maxParallelism, k8sServiceAccount, assumableIamRole, interruptible, overwriteCache, labels, annotations, envs } =
    executionDefaults;
  const hasIdentity = k8sServiceAccount !== "" || assumableIamRole !== "";
  const environment = Object.entries(envs).map(([key, value]) => ({ key, value }));
  return create(WorkflowExecutionConfigSchema, {
    maxParallelism,
    overwriteCache,
    ...(interruptible !== undefined && { interruptible }),
    ...(hasIdentity && { securityContext: { runAs: { k8sServiceAccount, iamRole: assumableIamRole } } }),
    ...(Object.keys(labels).length > 0 && { labels: { values: labels } }),
    ...(Object.keys(annotations).length > 0 && { annotations: { values: annotations } }),
    ...(environment.length > 0 && { envs: { values: environment } }),
  });
}

/**
 * The first source's settings, each one that says nothing taken from the next source
 * that does. Labels, annotations and environment are taken whole; a cache that any
 * source wants overwritten is; a security context counts only if it names an identity.
 */
export function mergeExecutionSettings(sources: readonly Partial<ExecutionSettings>[]): WorkflowExecutionConfig {
  const first = <T>(pick: (source: Partial<ExecutionSettings>) => T | undefined, says: (value: T) => boolean): T | undefined => {
    for (const source of sources) {
      const value = pick(source);
      if (value !== undefined && says(value)) return value;
    }
    return undefined;
  };
  const securityContext = first((s) => s.securityContext, namesIdentity);
  const rawOutputDataConfig = first(
    (s) => s.rawOutputDataConfig,
    (value) => value.outputLocationPrefix !== "",
  );
  const labels = first(
    (s) => s.labels,
    ({ values }) => Object.keys(values).length > 0,
  );
  const annotations = first(
    (s) => s.annotations,
    ({ values }) => Object.keys(values).length > 0,
  );
  const envs = first(
    (s) => s.envs,
    ({ values }) => values.length > 0,
  );
  const interruptible = first(
    (s) => s.interruptible,
    () => true,
  );
  return create(WorkflowExecutionConfigSchema, {
    maxParallelism:
      first(
        (s) => s.maxParallelism,
        (value) => value !== 0,
      ) ?? 0,
    overwriteCache: sources.some((source) => source.overwriteCache === true),
    ...(interruptible !== undefined && { interruptible }),
    ...(securityContext && { securityContext }),
    ...(rawOutputDataConfig && { rawOutputDataConfig }),
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(envs && { envs }),
  });
}

function namesIdentity({ runAs }: SecurityContext): boolean {
  return runAs !== undefined && (runAs.k8sServiceAccount !== "" || runAs.iamRole !== "" || runAs.executionIdentity !== "");
}
