import type { PermissionRule, ServiceManifest } from "./manifest-schema.js";
import { serviceNames } from "./names.js";

/** Rules of one role of a service account. */
export interface PermissionSet {
  /** Name of the role: the account, and the component that adds the rules if there is one. */
  readonly role: string;
  readonly account: string;
  readonly rules: readonly PermissionRule[];
}

/**
 * Groups the rules of each service: those that it always has, and those of each component. Services
 * without rules have no set.
 */
export function permissionSets(services: readonly ServiceManifest[]): readonly PermissionSet[] {
  return services.flatMap((service) => {
    const account = serviceNames(service).kubernetes;
    const components = [...new Set(service.permissions.map(({ component }) => component))];
    return components.map((component) => ({
      role: component === undefined ? account : `${account}-${component}`,
      account,
      rules: service.permissions.filter((rule) => rule.component === component),
    }));
  });
}
