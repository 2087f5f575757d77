import { bindingsFor, isGranted, type Role, type RoleBinding } from "@flyte-ts/auth";
import type { MyAccessService } from "@flyte-ts/idl/flytets/admin/v1/my_access_pb";
import { Code, RpcError, type ServiceImplementation } from "@flyte-ts/rpc";
import { checkText } from "../../platform/index.js";

/** Roles of people, the greatest first: each includes the following ones. */
const ROLES_OF_PEOPLE: readonly Role[] = ["admin", "contributor", "runner", "viewer"];

/** Returns the roles of the caller in a project and domain. */
export function myAccessRpcs(bindings: () => Promise<readonly RoleBinding[]>): ServiceImplementation<typeof MyAccessService> {
  return {
    async getMyAccess({ project, domain }, { caller }) {
      checkText(project, "project");
      checkText(domain, "domain");
      if (caller === undefined) throw new RpcError(Code.UNAUTHENTICATED, "not signed in: the call has no known caller");
      const held = bindingsFor(await bindings(), caller);
      const has = (role: Role): boolean => isGranted(held, { role, scope: { kind: "project", project, domain } });
      return { subject: caller.subject, role: ROLES_OF_PEOPLE.find(has) ?? "", engine: has("engine") };
    },
  };
}

/** Answers without authentication: every caller may do everything. */
export const unrestrictedAccessRpcs: ServiceImplementation<typeof MyAccessService> = {
  getMyAccess: ({ project, domain }) => {
    checkText(project, "project");
    checkText(domain, "domain");
    return { subject: "", role: "admin", engine: true };
  },
};
