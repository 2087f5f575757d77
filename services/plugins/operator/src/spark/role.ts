import type { JsonObject } from "@bufbuild/protobuf";
import type { K8sPod } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { Container } from "@flyte-ts/pod-task";
import { primaryOf } from "../build/containers.js";
import { mergeRolePod } from "../build/merge-role-pod.js";
import type { RolePod } from "../build/role-pod-builder.js";
import { toJson } from "../build/template.js";
import type { SparkSettings } from "./settings.js";
import type { SparkConf } from "./spark-conf.js";

export interface RoleContext {
  readonly role: "driver" | "executor";
  readonly conf: SparkConf;
  readonly settings: SparkSettings;
  /** Number of attempts that the task may have. */
  readonly maxAttempts: number;
}

/** Merges the task's own pod for a role into the built one. */
export function mergeSparkPod(pod: RolePod, overlay: K8sPod | undefined): RolePod {
  const merged = mergeRolePod(pod, overlay);
  const primary = overlay?.primaryContainerName ?? "";
  return merged.spec.containers.some(({ name }) => name === primary) ? { ...merged, primaryContainer: primary } : merged;
}

/** Builds the driver or the executor of an application from its pod. */
export function buildRole(pod: RolePod, { role, conf, settings, maxAttempts }: RoleContext): JsonObject {
  const { spec, labels, annotations, primaryContainer } = pod;
  const container = primaryOf(spec, primaryContainer);
  const { affinity, securityContext: podSecurityContext, dnsConfig, tolerations, schedulerName, nodeSelector, hostNetwork } = spec;
  const { priorityClassName } = spec as { readonly priorityClassName?: string };
  return toJson({
    ...numbers(conf, role),
    ...present({
      memory: conf[`spark.${role}.memory`],
      affinity,
      podSecurityContext,
      securityContext: container?.securityContext,
      dnsConfig,
      tolerations,
      schedulerName,
      nodeSelector,
      hostNetwork,
      priorityClassName,
      image: container?.image,
    }),
    labels,
    annotations,
    env: [...(container?.env ?? []), { name: "FLYTE_MAX_ATTEMPTS", value: String(maxAttempts) }],
    serviceAccount: spec.serviceAccountName || settings.serviceAccount,
    ...(settings.podTemplates ? { template: { metadata: { labels, annotations }, spec: restOfPod(pod, role) } } : {}),
  });
}

function present(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""));
}

/** Returns the integer settings; texts that are not whole numbers are omitted. */
function numbers(conf: SparkConf, role: "driver" | "executor"): Record<string, number> {
  const texts = { cores: conf[`spark.${role}.cores`], ...(role === "executor" ? { instances: conf["spark.executor.instances"] } : {}) };
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text !== undefined && /^\d+$/.test(text) ? [[name, Number(text)]] : [])),
  );
}

/**
 * Returns the fields of the pod that have no counterpart in a role. The first container is Spark's
 * own, which Spark completes.
 */
function restOfPod({ spec, primaryContainer }: RolePod, role: "driver" | "executor"): Record<string, unknown> {
  const {
    containers,
    affinity: _a,
    securityContext: _s,
    dnsConfig: _d,
    tolerations: _t,
    schedulerName: _n,
    nodeSelector: _o,
    hostNetwork: _h,
    serviceAccountName: _c,
    restartPolicy: _r,
    ...rest
  } = spec;
  const { priorityClassName: _p, ...others } = rest as typeof rest & { readonly priorityClassName?: string };
  const primary = primaryOf(spec, primaryContainer);
  return {
    ...others,
    containers: [
      { ...(primary === undefined ? {} : restOfContainer(primary)), name: `spark-kubernetes-${role}` },
      ...containers.filter((container) => container !== primary),
    ],
  };
}

function restOfContainer(container: Container): Partial<Container> {
  const { image: _i, command: _c, args: _a, env: _e, resources: _r, securityContext: _s, ...rest } = container;
  return rest;
}
