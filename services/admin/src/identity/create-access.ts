import type { Access, AccessDeps } from "./access/start.js";

/**
 * Creates the authentication and authorization of calls. Loads their modules only here: they need
 * 13 MB.
 */
export async function createAccess(deps: AccessDeps): Promise<Access> {
  return (await import("./access/start.js")).createAccess(deps);
}
