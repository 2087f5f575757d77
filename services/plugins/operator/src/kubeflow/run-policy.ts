import type { JsonObject } from "@bufbuild/protobuf";
import { CleanPodPolicy, type RunPolicy } from "@flyte-ts/idl/flyteidl/plugins/kubeflow/common_pb";

const CLEAN_POD_POLICIES: Readonly<Record<CleanPodPolicy, string>> = {
  [CleanPodPolicy.CLEANPOD_POLICY_NONE]: "None",
  [CleanPodPolicy.CLEANPOD_POLICY_RUNNING]: "Running",
  [CleanPodPolicy.CLEANPOD_POLICY_ALL]: "All",
};

/** Builds the run policy of a job; zeros mean none. */
export function buildRunPolicy(policy: RunPolicy | undefined): JsonObject {
  if (policy === undefined) return {};
  const { ttlSecondsAfterFinished, activeDeadlineSeconds, backoffLimit } = policy;
  return {
    cleanPodPolicy: CLEAN_POD_POLICIES[policy.cleanPodPolicy] ?? "None",
    ...nonZero({ ttlSecondsAfterFinished, activeDeadlineSeconds, backoffLimit }),
  };
}

/** Returns the fields that are not 0. */
export function nonZero(fields: Readonly<Record<string, number>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== 0));
}
