import type { DescMethod } from "@bufbuild/protobuf";
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
import { ALL, bindingsOf, isGranted, type Need, needText, type RoleBinding } from "./binding.js";
import { endWithLeave } from "./end-with-leave.js";
import { readToken } from "./read-token.js";
import { methodKey, type Rule, type RuleTable } from "./rule.js";
import type { Identity, VerifyToken } from "./verify-token.js";

type Metadata = CallContext["metadata"];

/** A change that a caller requests. */
export interface Change {
  readonly identity: Identity;
  readonly method: DescMethod;
  readonly request: unknown;
  readonly context: CallContext;
}

/** Records how a change ended: OK, refused, or failed. */
export type NoteEnd = (code: Code, message: string) => Promise<void>;

export interface GuardOptions {
  readonly table: RuleTable;
  readonly verify: VerifyToken;
  /** Checks an ID token, given as `IDToken`, as Flyte's gateways do; absent: ID tokens are refused. */
  readonly verifyIdToken?: VerifyToken;
  /** Metadata key, in lower case, that may hold the token besides `authorization`. */
  readonly headerKey: string;
  readonly bindings: () => Promise<readonly RoleBinding[]>;
  /** Rejects with UNAUTHENTICATED when an identity accepted earlier has been revoked. */
  readonly stillGood?: (identity: Identity) => Promise<void>;
  /** Identifies a browser by its cookies; called only for HTTP requests without a token. */
  readonly session?: (headers: Metadata) => Promise<Identity | undefined>;
  readonly clock: () => Date;
  /** Interval at which the rights of a stream's caller are checked, ms. Default one minute. */
  readonly streamCheckMs?: number;
  /** Records a change before it is made; when it rejects, the change is not made. */
  readonly record?: (change: Change) => Promise<NoteEnd>;
}

/** Decides who may make a call, for both gRPC and REST. */
export interface Guard extends CallGuard {
  /** Admits HTTP paths that are not calls; any role suffices. */
  readonly admitHttp: (head: HttpRequestHead) => Promise<void>;
}

export function createGuard(options: GuardOptions): Guard {
  const rules = new WeakMap<DescMethod, Rule | undefined>();
  const ruleOf = (method: DescMethod): Rule | undefined => {
    if (!rules.has(method)) rules.set(method, options.table.get(methodKey(method)));
    return rules.get(method);
  };
  /** Callers identified before their request was read, by the metadata of the call. */
  const admitted = new WeakMap<Metadata, Identity>();
  return {
    interceptor: async (call, next) => {
      const { context } = call;
      const rule = ruleOf(context.method);
      if (rule?.kind === "open") return next(context);
      const identity = admitted.get(context.metadata) ?? (await identify(options, context.metadata, context.transport === "rest"));
      // A method without a rule is denied to every caller.
      if (rule === undefined) throw denied(identity, methodKey(context.method), "no role includes this call");
      const held = bindingsOf(await options.bindings(), identity);
      const run = async (): Promise<unknown> => {
        if (rule.kind === "roles") requireNeeds(rule, { held, identity, call });
        const known = withCaller(context, callerOf(identity, held));
        if (!streamsOut(context.method)) return next(known);
        const stillAllowed = async (): Promise<void> => {
          await options.stillGood?.(identity);
          const now = bindingsOf(await options.bindings(), identity);
          if (rule.kind === "roles") requireNeeds(rule, { held: now, identity, call });
        };
        const { clock, streamCheckMs: everyMs = STREAM_CHECK_MS } = options;
        return endWithLeave(known, { expiresAt: identity.expiresAt, stillAllowed, clock, everyMs }, next);
      };
      const writes = rule.kind === "roles" && rule.writes;
      return writes && options.record
        ? recorded(options.record, { identity, context, method: context.method, request: call.request }, run)
        : run();
    },
    admit: async ({ method, metadata, transport }) => {
      const rule = ruleOf(method);
      if (rule?.kind === "open") return {};
      const identity = await identify(options, metadata, transport === "rest");
      admitted.set(metadata, identity);
      if (rule === undefined) return { lacking: denied(identity, methodKey(method), "no role includes this call") };
      if (rule.kind !== "roles") return {};
      const need: Need = { role: rule.role, scope: { kind: "anywhere" } };
      if (isGranted(bindingsOf(await options.bindings(), identity), need)) return {};
      return { lacking: denied(identity, methodKey(method), needText(need)) };
    },
    admitHttp: async (head) => {
      const identity = await identify(options, head.metadata, true);
      const need = { role: "viewer", scope: { kind: "anywhere" } } as const;
      if (!isGranted(bindingsOf(await options.bindings(), identity), need)) throw denied(identity, head.path, needText(need));
    },
  };
}

const STREAM_CHECK_MS = 60_000;

function streamsOut({ methodKind }: DescMethod): boolean {
  return methodKind === "server_streaming" || methodKind === "bidi_streaming";
}

async function identify(options: GuardOptions, metadata: Metadata, fromHttp: boolean): Promise<Identity> {
  const identity = await claimed(options, metadata, fromHttp);
  await options.stillGood?.(identity);
  return identity;
}

/** Identity of the caller by token or session; a revocation since is not checked here. */
async function claimed(
  { verify, verifyIdToken, headerKey, session }: GuardOptions,
  metadata: Metadata,
  fromHttp: boolean,
): Promise<Identity> {
  const found = readToken(metadata, headerKey);
  switch (found?.scheme) {
    case "bearer":
      return verify(found.token);
    case "id":
      if (verifyIdToken === undefined) throw new RpcError(Code.UNAUTHENTICATED, "ID tokens are not accepted: an access token is needed");
      return verifyIdToken(found.token);
    case undefined:
  }
  const identity = fromHttp ? await session?.(metadata) : undefined;
  if (identity === undefined) throw new RpcError(Code.UNAUTHENTICATED, `sign in: the call has no token in ${headerKey} or authorization`);
  return identity;
}

function requireNeeds(
  rule: Extract<Rule, { kind: "roles" }>,
  { held, identity, call }: { readonly held: readonly RoleBinding[]; readonly identity: Identity; readonly call: InterceptedCall },
): void {
  const needs = rule.needs(call.request);
  const lacking = needs.find((need) => !isGranted(held, need));
  if (lacking === undefined && needs.length > 0) return;
  throw denied(identity, methodKey(call.context.method), lacking === undefined ? "no role includes this call" : needText(lacking));
}

function denied({ subject }: Identity, what: string, why: string): RpcError {
  return new RpcError(Code.PERMISSION_DENIED, `${JSON.stringify(subject)} may not call ${what}: ${why}`);
}

function callerOf({ subject, issuer, groups, claims }: Identity, held: readonly RoleBinding[]): Caller {
  const all = held.some(({ project }) => project === ALL);
  return { subject, issuer, groups, claims, projects: all ? undefined : [...new Set(held.map(({ project }) => project))] };
}

/** Adds the caller to the context by its prototype: a copy would evaluate the context's lazy properties. */
function withCaller(context: CallContext, caller: Caller): CallContext {
  return Object.create(context, { caller: { value: caller, enumerable: true } }) as CallContext;
}

async function recorded(record: NonNullable<GuardOptions["record"]>, change: Change, run: () => Promise<unknown>): Promise<unknown> {
  const noteEnd = await record(change);
  try {
    const answer = await run();
    await noteEnd(Code.OK, "");
    return answer;
  } catch (thrown) {
    const { code, message } = toRpcError(thrown);
    await noteEnd(code, message);
    throw thrown;
  }
}
