// Identity of the caller
export { readToken } from "./read-token.js";
export type { Identity, VerifyToken } from "./verify-token.js";
export { createRecent, isRecent, type Recent, type RecentOptions } from "./recent.js";

// Rights of the caller
export { includesRole, type Role, ROLES } from "./role.js";
export { ALL, bindingsOf, type Holder, isGranted, type Need, needText, type RoleBinding, type Scope } from "./binding.js";
export {
  methodKey,
  open,
  reads,
  reports,
  requireRules,
  type Rule,
  rulesFor,
  type RulesOf,
  type RuleTable,
  signedIn,
  writes,
} from "./rule.js";
export { bindingsFrom, headerKeySchema, providerSchema, roleSchema } from "./config-schema.js";
export { platformRules } from "./platform-rules.js";
export { type Change, createGuard, type Guard, type GuardOptions, type NoteEnd } from "./guard.js";

// Calls to other services
export { type ClientToken, type ClientTokenOptions, createClientToken } from "./client-token.js";
export { type ServiceAuth, serviceAuthSchema, serviceMetadata } from "./service-metadata.js";
