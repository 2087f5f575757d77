import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "@flyte-ts/idl/google/api/annotations_pb";
import {
  type CallContext,
  type CallGuard,
  type Caller,
  Code,
  type HttpRequestHead,
  type InterceptedCall,
  RpcError,
  toRpcError,
} from "@flyte-ts/rpc";
import { WILDCARD, bindingsFor, isGranted, type Permission, describePermission, type Principal, type RoleBinding } from "./binding.js";
import { executionFromMetadata, type NamedExecution } from "./on-behalf.js";
import { runWhileAuthorized } from "./stream-authorization.js";
import { tokenFromMetadata } from "./tokens/token-from-metadata.js";
import { methodKey, type Rule, type RuleTable } from "./rule.js";
import type { Identity, VerifyToken } from "./tokens/verify-token.js";

type Metadata = CallContext["metadata"];

/** A change that a caller requests. */
export interface AuditedChange {
  readonly identity: Identity;
  readonly method: DescMethod;
  readonly request: unknown;
  readonly context: CallContext;
}

/** Result of a change: OK with its response, refused, or failed. */
export interface AuditedResult {
  readonly code: Code;
  /** Empty with OK. */
  readonly message: string;
  readonly response?: unknown;
}

/** Records how a change ended. */
export type FinishAudit = (result: AuditedResult) => Promise<void>;

export interface GuardOptions {
  readonly table: RuleTable;
  readonly verify: VerifyToken;
  /**
   * Checks an ID token, which Flyte's gateways send with the scheme `IDToken`. Absent: ID tokens
   * are refused.
   */
  readonly verifyIdToken?: VerifyToken;
  /** Metadata key, in lower case, that may hold the token besides `authorization`. */
  readonly headerKey: string;
  readonly bindings: () => Promise<readonly RoleBinding[]>;
  /** Rejects with UNAUTHENTICATED when an identity accepted earlier has been revoked. */
  readonly assertNotRevoked?: (identity: Identity) => Promise<void>;
  /**
   * Identifies a browser by its cookies; called only for HTTP requests without a token. Rejects
   * when a page may not make such a request.
   */
  readonly session?: (headers: Metadata, request: SessionRequest) => Promise<Identity | undefined>;
  /**
   * Finds who launched an execution; undefined when there is none. Absent: calls for executions
   * need the rights of their caller only.
   */
  readonly launcherOf?: (execution: NamedExecution) => Promise<Principal | undefined>;
  readonly clock: () => Date;
  /** Interval at which the rights of a stream's caller are checked, ms. Default one minute. */
  readonly streamCheckMs?: number;
  /** Records a change before it is made; when it rejects, the change is not made. */
  readonly audit?: (change: AuditedChange) => Promise<FinishAudit>;
}

/** Request that comes with a session cookie. */
export interface SessionRequest {
  /** False for a request that may change something. */
  readonly onlyReads: boolean;
}

/** Decides who may make a call, for both gRPC and REST. */
export interface Guard extends CallGuard {
  /** Admits HTTP paths that are not calls; any role suffices. */
  readonly authorizeHttp: (head: HttpRequestHead) => Promise<void>;
}

export function createGuard(options: GuardOptions): Guard {
  const rules = new WeakMap<DescMethod, Rule | undefined>();
  const ruleOf = (method: DescMethod): Rule | undefined => {
    if (!rules.has(method)) rules.set(method, options.table.get(methodKey(method)));
    return rules.get(method);
  };
  /** Callers identified before their request was read, by the metadata of the call. */
  const authorized = new WeakMap<Metadata, Identity>();
  return {
    interceptor: async (call, next) => {
      const { context } = call;
      const rule = ruleOf(context.method);
      if (rule?.kind === "open") return next(context);
      const identity =
        authorized.get(context.metadata) ?? (await authenticateAndCheck(options, context.metadata, sessionRequestOf(context, rule)));
      // A method without a rule is denied to every caller.
      if (rule === undefined) throw permissionDenied(identity, methodKey(context.method), "no role grants this call");
      const held = bindingsFor(await options.bindings(), identity);
      const run = async (): Promise<unknown> => {
        if (rule.kind === "roles") {
          requirePermissions(rule, { held, identity, call });
          await requireOfLauncher(options, rule, { held, identity, call });
        }
        const known = withCaller(context, callerOf(identity, held));
        if (!streamsOut(context.method)) return next(known);
        const recheck = async (): Promise<void> => {
          await options.assertNotRevoked?.(identity);
          const now = bindingsFor(await options.bindings(), identity);
          if (rule.kind === "roles") requirePermissions(rule, { held: now, identity, call });
        };
        const { clock, streamCheckMs = STREAM_CHECK_MS } = options;
        return runWhileAuthorized(known, { expiresAt: identity.expiresAt, recheck, clock, recheckIntervalMs: streamCheckMs }, next);
      };
      const writes = rule.kind === "roles" && rule.writes;
      return writes && options.audit
        ? withAudit(options.audit, { identity, context, method: context.method, request: call.request }, run)
        : run();
    },
    admit: async ({ method, metadata, transport }) => {
      const rule = ruleOf(method);
      if (rule?.kind === "open") return {};
      const identity = await authenticateAndCheck(options, metadata, sessionRequestOf({ method, transport }, rule));
      authorized.set(metadata, identity);
      if (rule === undefined) return { lacking: permissionDenied(identity, methodKey(method), "no role grants this call") };
      if (rule.kind !== "roles") return {};
      const permission: Permission = { role: rule.role, scope: { kind: "anywhere" } };
      if (isGranted(bindingsFor(await options.bindings(), identity), permission)) return {};
      return { lacking: permissionDenied(identity, methodKey(method), describePermission(permission)) };
    },
    authorizeHttp: async (head) => {
      const identity = await authenticateAndCheck(options, head.metadata, { onlyReads: head.method === "GET" || head.method === "HEAD" });
      const permission = { role: "viewer", scope: { kind: "anywhere" } } as const;
      if (!isGranted(bindingsFor(await options.bindings(), identity), permission))
        throw permissionDenied(identity, head.path, describePermission(permission));
    },
  };
}

const STREAM_CHECK_MS = 60_000;

function streamsOut({ methodKind }: DescMethod): boolean {
  return methodKind === "server_streaming" || methodKind === "bidi_streaming";
}

/** Describes a call that may come with a session cookie; undefined: no browser makes it. */
function sessionRequestOf(
  { method, transport }: Pick<CallContext, "method" | "transport">,
  rule: Rule | undefined,
): SessionRequest | undefined {
  if (transport !== "rest") return undefined;
  return { onlyReads: !(rule?.kind === "roles" && rule.writes) && hasOnlyGetRoutes(method) };
}

function hasOnlyGetRoutes(method: DescMethod): boolean {
  if (!hasOption(method, http)) return false;
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].every(({ pattern }) => pattern.case === "get");
}

async function authenticateAndCheck(options: GuardOptions, metadata: Metadata, fromBrowser: SessionRequest | undefined): Promise<Identity> {
  const identity = await authenticate(options, metadata, fromBrowser);
  await options.assertNotRevoked?.(identity);
  return identity;
}

/**
 * Identifies the caller by token or session. Does not check whether the identity has been revoked
 * since it was accepted.
 */
async function authenticate(
  { verify, verifyIdToken, headerKey, session }: GuardOptions,
  metadata: Metadata,
  fromBrowser: SessionRequest | undefined,
): Promise<Identity> {
  const found = tokenFromMetadata(metadata, headerKey);
  switch (found?.scheme) {
    case "bearer":
      return verify(found.token);
    case "id":
      if (verifyIdToken === undefined) throw new RpcError(Code.UNAUTHENTICATED, "ID tokens are not accepted: an access token is needed");
      return verifyIdToken(found.token);
    case undefined:
  }
  const identity = fromBrowser === undefined ? undefined : await session?.(metadata, fromBrowser);
  if (identity === undefined)
    throw new RpcError(Code.UNAUTHENTICATED, `not signed in: the call has no token in ${headerKey} or authorization`);
  return identity;
}

type RolesRule = Extract<Rule, { kind: "roles" }>;

interface Requirer {
  readonly held: readonly RoleBinding[];
  readonly identity: Pick<Identity, "subject">;
  readonly call: InterceptedCall;
}

/**
 * Requires of a call that names an execution that its launcher may make it too. A launcher's role
 * engine does not count: services have it to run executions of others.
 */
async function requireOfLauncher(
  { launcherOf, bindings }: GuardOptions,
  rule: RolesRule,
  { held, identity, call }: Requirer,
): Promise<void> {
  const { metadata, method } = call.context;
  const execution = launcherOf && executionFromMetadata(metadata);
  if (execution === undefined) return;
  const { project, domain, name } = execution;
  const runs: Permission = { role: "engine", scope: { kind: "project", project, domain } };
  if (!isGranted(held, runs)) throw permissionDenied(identity, methodKey(method), describePermission(runs));
  const launcher = await launcherOf?.(execution);
  if (launcher === undefined) throw new RpcError(Code.NOT_FOUND, `there is no execution ${project}/${domain}/${name}`);
  const ofLauncher = bindingsFor(await bindings(), launcher).filter(({ role }) => role !== "engine");
  requirePermissions(rule, { held: ofLauncher, identity: launcher, call });
}

function requirePermissions(rule: RolesRule, { held, identity, call }: Requirer): void {
  const permissions = rule.permissions(call.request);
  const lacking = permissions.find((permission) => !isGranted(held, permission));
  if (lacking === undefined && permissions.length > 0) return;
  throw permissionDenied(
    identity,
    methodKey(call.context.method),
    lacking === undefined ? "no role grants this call" : describePermission(lacking),
  );
}

function permissionDenied({ subject }: Pick<Identity, "subject">, what: string, why: string): RpcError {
  return new RpcError(Code.PERMISSION_DENIED, `${JSON.stringify(subject)} may not call ${what}: ${why}`);
}

/** Bindings of the callers that guards have let in. */
const heldBy = new WeakMap<Caller, readonly RoleBinding[]>();

/**
 * Requires permissions that follow from what is stored, and so are known to the implementation of a
 * method only. Call it in the transaction that makes the change. Without authentication every
 * caller has them.
 *
 * @throws RpcError PERMISSION_DENIED naming the role and the scope.
 */
export function requireOfCaller({ caller, method }: Pick<CallContext, "caller" | "method">, permissions: readonly Permission[]): void {
  if (caller === undefined) return;
  const held = heldBy.get(caller) ?? [];
  const lacking = permissions.find((permission) => !isGranted(held, permission));
  if (lacking !== undefined) throw permissionDenied(caller, methodKey(method), describePermission(lacking));
}

function callerOf({ subject, issuer, groups, claims }: Identity, held: readonly RoleBinding[]): Caller {
  const all = held.some(({ project }) => project === WILDCARD);
  const caller = { subject, issuer, groups, claims, projects: all ? undefined : [...new Set(held.map(({ project }) => project))] };
  heldBy.set(caller, held);
  return caller;
}

/**
 * Adds the caller to the context by its prototype: a copy would evaluate the context's lazy
 * properties.
 */
function withCaller(context: CallContext, caller: Caller): CallContext {
  return Object.create(context, { caller: { value: caller, enumerable: true } }) as CallContext;
}

async function withAudit(audit: NonNullable<GuardOptions["audit"]>, change: AuditedChange, run: () => Promise<unknown>): Promise<unknown> {
  const finishAudit = await audit(change);
  try {
    const response = await run();
    await finishAudit({ code: Code.OK, message: "", response });
    return response;
  } catch (thrown) {
    const { code, message } = toRpcError(thrown);
    await finishAudit({ code, message });
    throw thrown;
  }
}
