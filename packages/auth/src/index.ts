// Identity of the caller
export { tokenFromMetadata } from "./tokens/token-from-metadata.js";
export type { Identity, VerifyToken } from "./tokens/verify-token.js";
export { createTtlValue, isWithinMs, type TtlValue, type TtlValueOptions } from "./ttl-value.js";

// Rights of the caller
export { includesRole, type Role, ROLES } from "./role.js";
export {
  WILDCARD,
  bindingsFor,
  type Principal,
  isGranted,
  type Permission,
  describePermission,
  type RoleBinding,
  type Scope,
} from "./binding.js";
export {
  methodKey,
  publicRule,
  readRule,
  reportRule,
  assertAllMethodsHaveRules,
  type Rule,
  ruleEntries,
  type RulesOf,
  type RuleTable,
  authenticatedRule,
  writeRule,
} from "./rule.js";
export { bindingsFrom, headerKeySchema, providerSchema, roleSchema } from "./config-schema.js";
export { platformRules } from "./platform-rules.js";
export {
  type AuditedChange,
  createGuard,
  type Guard,
  type GuardOptions,
  requireOfCaller,
  type SessionRequest,
  type FinishAudit,
} from "./guard.js";

// Calls to other services
export { type NamedExecution, onBehalfOf } from "./on-behalf.js";
export { type ClientToken, type ClientTokenOptions, createClientToken } from "./client/client-token.js";
export { type ServiceAuth, serviceAuthSchema, clientCredentials } from "./client/client-credentials.js";
