import type { DescMethod, DescService, MessageShape } from "@bufbuild/protobuf";
import type { Permission, Scope } from "./binding.js";
import type { Role } from "./role.js";

/** Access rule of a method. */
export type Rule<Request = unknown> =
  /** Open without a token. */
  | { readonly kind: "open" }
  /** Needs an accepted token, but no role. */
  | { readonly kind: "signed-in" }
  /**
   * Needs all roles that the request implies, at least one. `role`: the minimum for any request.
   * `writes`: it changes something, and is audited.
   */
  | {
      readonly kind: "roles";
      readonly role: Role;
      readonly permissions: (request: Request) => readonly Permission[];
      readonly writes: boolean;
    };

/**
 * One rule for each method of a service: a missing one fails to compile, and prevents the start.
 */
export type RulesOf<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: Rule<InputOf<Service["method"][Name]>>;
};

type InputOf<Method extends DescMethod> = Method["methodKind"] extends "unary" | "server_streaming"
  ? MessageShape<Method["input"]>
  : undefined;

type PermissionsOf<Request> = (request: Request) => Scope;

export const publicRule: Rule = { kind: "open" };
export const authenticatedRule: Rule = { kind: "signed-in" };

/** Rule of a method that reads in the scope of the request. */
export function readRule<Request>(role: Role, scope: PermissionsOf<Request>): Rule<Request> {
  return { kind: "roles", role, permissions: (request) => [{ role, scope: scope(request) }], writes: false };
}

/**
 * Rule of a method by which a service reports events. Calls are not audited, because the events
 * themselves are stored. `also` has the same meaning as in {@link writeRule}.
 */
export function reportRule<Request>(
  role: Role,
  scope: PermissionsOf<Request>,
  also: (request: Request) => readonly Permission[] = () => [],
): Rule<Request> {
  return { kind: "roles", role, permissions: (request) => [{ role, scope: scope(request) }, ...also(request)], writes: false };
}

/** Rule of a method that changes what the request names; `also` adds further scopes. */
export function writeRule<Request>(
  role: Role,
  scope: PermissionsOf<Request>,
  also: (request: Request) => readonly Permission[] = () => [],
): Rule<Request> {
  return { kind: "roles", role, permissions: (request) => [{ role, scope: scope(request) }, ...also(request)], writes: true };
}

/** Rules by `package.Service/Method`. */
export type RuleTable = ReadonlyMap<string, Rule>;

export function methodKey(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** Lists the rules of one service as entries of a table. */
export function ruleEntries<Service extends DescService>(service: Service, rules: RulesOf<Service>): [string, Rule][] {
  return service.methods.map((method) => {
    const rule = (rules as Readonly<Record<string, Rule | undefined>>)[method.localName];
    if (rule === undefined) throw new Error(`${methodKey(method)} has no rule`);
    return [methodKey(method), rule];
  });
}

/**
 * @throws Error naming every method of the services without a rule: such a method must not be
 *   served.
 */
export function assertAllMethodsHaveRules(services: readonly DescService[], table: RuleTable): void {
  const missing = services.flatMap(({ methods }) => methods.map(methodKey)).filter((key) => !table.has(key));
  if (missing.length > 0) throw new Error(`no rule says who may call ${missing.join(", ")}`);
}
