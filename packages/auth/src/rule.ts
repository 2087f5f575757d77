import type { DescMethod, DescService, MessageShape } from "@bufbuild/protobuf";
import type { Need, Scope } from "./binding.js";
import type { Role } from "./role.js";

/** What it takes to make a call. */
export type Rule<Request = unknown> =
  /** Anyone may, without a token. */
  | { readonly kind: "open" }
  /** Anyone whose token is accepted. */
  | { readonly kind: "signed-in" }
  /**
   * All of the needs that the request has; there must be at least one. `role`: the least that it takes, whatever the request names.
   * `writes`: it changes something, and is audited.
   */
  | { readonly kind: "roles"; readonly role: Role; readonly needs: (request: Request) => readonly Need[]; readonly writes: boolean };

/** A rule for each method of a service: a method without one does not compile, and does not start. */
export type RulesOf<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: Rule<InputOf<Service["method"][Name]>>;
};

type InputOf<Method extends DescMethod> = Method["methodKind"] extends "unary" | "server_streaming"
  ? MessageShape<Method["input"]>
  : undefined;

type Needing<Request> = (request: Request) => Scope;

export const open: Rule = { kind: "open" };
export const signedIn: Rule = { kind: "signed-in" };

/** A call that reads where the request says. */
export function reads<Request>(role: Role, scope: Needing<Request>): Rule<Request> {
  return { kind: "roles", role, needs: (request) => [{ role, scope: scope(request) }], writes: false };
}

/** A call by which a service tells what has happened: what it tells is kept itself, so it is not audited. `also` as in `writes`. */
export function reports<Request>(
  role: Role,
  scope: Needing<Request>,
  also: (request: Request) => readonly Need[] = () => [],
): Rule<Request> {
  return { kind: "roles", role, needs: (request) => [{ role, scope: scope(request) }, ...also(request)], writes: false };
}

/** A call that changes what the request names; `also` tells what else it touches. */
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

/** The rules of one service, as entries of a table. */
export function rulesFor<Service extends DescService>(service: Service, rules: RulesOf<Service>): [string, Rule][] {
  return service.methods.map((method) => {
    const rule = (rules as Readonly<Record<string, Rule | undefined>>)[method.localName];
    if (rule === undefined) throw new Error(`${methodKey(method)} has no rule`);
    return [methodKey(method), rule];
  });
}

/** @throws Error naming every method of the services that has no rule: a call that nobody thought of must not be served. */
export function requireRules(services: readonly DescService[], table: RuleTable): void {
  const missing = services.flatMap(({ methods }) => methods.map(methodKey)).filter((key) => !table.has(key));
  if (missing.length > 0) throw new Error(`no rule says who may call ${missing.join(", ")}`);
}
