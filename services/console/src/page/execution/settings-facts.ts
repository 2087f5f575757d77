import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";

interface SettingsGroup {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
}

const NOT_SET = "not set";
const yes = (value: boolean | null | undefined): string => (value === undefined || value === null ? NOT_SET : value ? "yes" : "no");

/** Returns the settings of an execution by topic; a topic without any is left out. */
export function settingsOf({ spec, closure }: ExecutionJson): readonly SettingsGroup[] {
  const { runAs } = spec?.securityContext ?? {};
  const pairs = (values: Readonly<Record<string, string>> | undefined) => Object.entries(values ?? {});
  const run: SettingsGroup["facts"] = [
    ["Tasks at once", spec?.maxParallelism ? String(spec.maxParallelism) : "default"],
    ["Interruptible", yes(spec?.interruptible)],
    ["Overwrites the cache", yes(spec?.overwriteCache)],
    ["Namespace", spec?.metadata?.systemMetadata?.namespace ?? ""],
    ["Data plane", spec?.metadata?.systemMetadata?.executionCluster ?? ""],
    ["Output location", spec?.rawOutputDataConfig?.outputLocationPrefix ?? ""],
    ["State", closure?.stateChangeDetails?.state === "EXECUTION_ARCHIVED" ? "archived" : "active"],
  ];
  const security: SettingsGroup["facts"] = [
    ["Kubernetes service account", runAs?.k8sServiceAccount ?? ""],
    ["IAM role", runAs?.iamRole ?? ""],
    ["Identity", runAs?.executionIdentity ?? ""],
  ];
  const environment = (spec?.envs?.values ?? []).map(({ key = "", value = "" }) => [key, value] as const);
  const groups: readonly SettingsGroup[] = [
    { title: "Run", facts: run },
    { title: "Security", facts: security },
    { title: "Labels", facts: pairs(spec?.labels?.values) },
    { title: "Annotations", facts: pairs(spec?.annotations?.values) },
    { title: "Environment", facts: environment },
  ];
  return groups
    .map(({ title, facts }) => ({ title, facts: facts.filter(([, value]) => value !== "") }))
    .filter(({ facts }) => facts.length > 0);
}
