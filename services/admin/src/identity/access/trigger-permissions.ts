import type { Permission, Scope } from "@flyte-ts/auth";
import type { Trigger } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";

interface Named {
  readonly project: string;
  readonly domain: string;
}

const scopeOf = (named: Named | undefined, otherwise: Named | undefined): Scope => ({
  kind: "project",
  project: (named?.project || otherwise?.project) ?? "",
  domain: (named?.domain || otherwise?.domain) ?? "",
});

/**
 * Permissions for a trigger: to start its launch plan, and to read its source. Checked for the
 * author on creation, and again on each firing.
 */
export function triggerPermissions({ id, launchPlan, source }: Pick<Trigger, "id" | "launchPlan" | "source">): Permission[] {
  const permissions: Permission[] = [{ role: "runner", scope: scopeOf(launchPlan, id) }];
  if (source.case === "execution") permissions.push({ role: "viewer", scope: scopeOf(source.value, id) });
  return permissions;
}
