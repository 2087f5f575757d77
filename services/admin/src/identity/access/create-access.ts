import type { Access, AccessDeps } from "./start.js";

/** Creates the authentication and authorization of calls. Loads their modules only here: they need 13 MB. */
export async function createAccess(deps: AccessDeps): Promise<Access> {
  return (await import("./start.js")).createAccess(deps);
}
