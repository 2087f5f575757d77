import type { DescMethod, DescService, MessageShape } from "@bufbuild/protobuf";
import type { Need, Scope } from "./binding.js";
import type { Role } from "./role.js";

/** Access rule of a method. */
export type Rule<Request = unknown> =
  /** Open without a token. */
  | { readonly kind: "open" }
  /** Needs an accepted token, but no role. */
  | { readonly kind: "signed-in" }
  /**
   * Needs all roles that the request implies, at least one. `role`: the minimum for any request. `writes`: it changes
   * something, and is audited.
   */
  | { readonly kind: "roles"; readonly role: Role; readonly needs: (request: Request) => readonly Need[]; readonly writes: boolean };

/** One rule for each method of a service: a missing one fails to compile, and prevents the start. */
export type RulesOf<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: Rule<InputOf<Service["method"][Name]>>;
};

type InputOf<Method extends DescMethod> = Method["methodKind"] extends "unary" | "server_streaming"
  ? MessageShape<Method["input"]>
  : undefined;

type Needing<Request> = (request: Request) => Scope;

export const open: Rule = { kind: "open" };
export const signedIn: Rule = { kind: "signed-in" };

/** Rule of a method that reads in the scope of the request. */
export function reads<Request>(role: Role, scope: Needing<Request>): Rule<Request> {
  return { kind: "roles", role, needs: (request) => [{ role, scope: scope(request) }], writes: false };
}

/** Rule of a method by which a service reports events: these are stored themselves, so it is not audited. `also` as in `writes`. */
export function reports<Request>(
  role: Role,
  scope: Needing<Request>,
  also: (request: Request) => readonly Need[] = () => [],
): Rule<Request> {
  return { kind: "roles", role, needs: (request) => [{ role, scope: scope(request) }, ...also(request)], writes: false };
}

/** Rule of a method that changes what the request names; `also` adds further scopes. */
export function writes<Request>(
  role: Role,
  scope: Needing<Request>,
  also: (request: Request) => readonly Need[] = () => [],
): Rule<Request> {
  return { kind: "roles", role, needs: (request) => [{ role, scope: scope(request) }, ...also(request)], writes: true };
}

/** Rules by `package.Service/Method`. */
export type RuleTable = ReadonlyMap<string, Rule>;

export function methodKey(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** Lists the rules of one service as entries of a table. */
export function rulesFor<Service extends DescService>(service: Service, rules: RulesOf<Service>): [string, Rule][] {
  return service.methods.map((method) => {
    const rule = (rules as Readonly<Record<string, Rule | undefined>>)[method.localName];
    if (rule === undefined) throw new Error(`${methodKey(method)} has no rule`);
    return [methodKey(method), rule];
  });
}

/** @throws Error naming every method of the services without a rule: such a method must not be served. */
export function requireRules(services: readonly DescService[], table: RuleTable): void {
  const missing = services.flatMap(({ methods }) => methods.map(methodKey)).filter((key) => !table.has(key));
  if (missing.length > 0) throw new Error(`no rule says who may call ${missing.join(", ")}`);
}
