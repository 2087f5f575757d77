import type { AutomationDeps } from "./automation/index.js";
import type { DispatchDeps } from "./dispatch/index.js";
import type { IdentityDeps } from "./identity/index.js";
import type { AdminConfig } from "./config.js";

/** Dependencies of all areas; `main.ts` creates them once. */
export interface AdminDeps extends DispatchDeps, IdentityDeps, AutomationDeps {
  readonly config: AdminConfig;
}
