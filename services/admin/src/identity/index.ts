export { createBindings } from "./access/bindings.js";
export { createAccess } from "./access/create-access.js";
export type { Access } from "./access/start.js";
export { triggerPermissions } from "./access/trigger-permissions.js";
export { runAccounts } from "./accounts/run.js";
export { type IdentityConfig, identitySettings } from "./config.js";
export { isOrigin } from "./config/auth.js";
export type { IdentityDeps } from "./deps.js";
export { deleteAuditEntriesBefore, finishAuditEntry, insertAuditEntry } from "./store/audit-log.js";
