// Who calls
export { readToken } from "./read-token.js";
export { ALGORITHMS, createVerifier, type Identity, type Issuer, type VerifyOptions, type VerifyToken } from "./verify-token.js";
export { createProvider, type Provider, type ProviderMetadata, type ProviderOptions } from "./discover.js";
export { createLocalKeys, type PublicKey } from "./local-keys.js";

// What they may do
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
export { platformRules } from "./platform-rules.js";
export { type Change, createGuard, type Guard, type GuardOptions, type NoteEnd } from "./guard.js";

// Calling others
export { type ClientTokenOptions, createClientToken } from "./client-token.js";
