import { type DescField, type DescMessage, type DescOneof, ScalarType } from "@bufbuild/protobuf";
import type { Permission, Scope } from "@flyte-ts/auth";
import { LiteralOffloadedMetadataSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ObjectsConfig, ownersOfOffloaded } from "./native-url.js";

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns the permissions for the objects that a request refers to: each project and domain named
 * by any nested message. The caller must be able to read them, since the result shows or uses them.
 * Follows the descriptors, so that fields added to the API are covered.
 */
export function referencePermissions(schema: DescMessage, message: object): Permission[] {
  const found = new ViewerScopes();
  walkScoped(schema, message, ({ project, domain }) => {
    if (project !== "" || domain !== "") found.add({ kind: "project", project: String(project), domain: String(domain) });
  });
  return found.permissions();
}

/**
 * Returns the permissions for the offloaded literals of a request. Propeller reads them with its
 * own rights, and shows what they contain, so the caller must be able to read them.
 */
export function offloadedPermissions(schema: DescMessage, message: object, config: ObjectsConfig): Permission[] {
  const found = new ViewerScopes();
  const uris = new Set<string>();
  walkOffloaded(schema, message, ({ uri }) => uris.add(String(uri)));
  for (const uri of uris) for (const scope of ownersOfOffloaded(uri, config)) found.add(scope);
  return found.permissions();
}

/** The role viewer in each of the added scopes, once. */
class ViewerScopes {
  private readonly found = new Map<string, Permission>();

  add(scope: Scope): void {
    const key = JSON.stringify(Object.values(scope));
    if (!this.found.has(key)) this.found.set(key, { role: "viewer", scope });
  }

  permissions(): Permission[] {
    return [...this.found.values()];
  }
}

const walkScoped = createWalk(({ field }) => field.project?.scalar === ScalarType.STRING && field.domain?.scalar === ScalarType.STRING);
const walkOffloaded = createWalk(({ typeName }) => typeName === LiteralOffloadedMetadataSchema.typeName);

type Walk = (schema: DescMessage, message: object, report: (found: Fields) => void) => void;

/** Ways from a message to wanted ones. Plans refer to each other, as messages do. */
interface Plan {
  /** True when the message itself is wanted. */
  readonly isWanted: boolean;
  readonly fields: { readonly field: DescField; readonly plan: Plan }[];
  readonly oneofs: { readonly oneof: DescOneof; readonly plans: Map<string, Plan> }[];
}

/**
 * Creates a walk through a message that reports the nested messages of a kind, at any depth. It
 * enters only fields that can lead to one: a literal takes two steps.
 */
function createWalk(isWanted: (schema: DescMessage) => boolean): Walk {
  const plans = new WeakMap<DescMessage, Plan>();
  const planOf = (schema: DescMessage): Plan => {
    const known = plans.get(schema);
    if (known !== undefined) return known;
    const plan: Plan = { isWanted: isWanted(schema), fields: [], oneofs: [] };
    // Known before its fields are looked at, since messages can contain themselves.
    plans.set(schema, plan);
    const leads = ({ message }: DescField) => message !== undefined && reaches(message, isWanted);
    for (const member of schema.members) {
      if (member.kind === "field") {
        if (leads(member) && member.message !== undefined) plan.fields.push({ field: member, plan: planOf(member.message) });
        continue;
      }
      const cases = member.fields.flatMap((field): [string, Plan][] =>
        leads(field) && field.message !== undefined ? [[field.localName, planOf(field.message)]] : [],
      );
      if (cases.length > 0) plan.oneofs.push({ oneof: member, plans: new Map(cases) });
    }
    return plan;
  };
  return (schema, message, report) => walk(planOf(schema), message as Fields, report);
}

function walk(plan: Plan, message: Fields, report: (found: Fields) => void): void {
  if (plan.isWanted) report(message);
  for (const { oneof, plans } of plan.oneofs) {
    const { case: name, value } = message[oneof.localName] as { readonly case?: string; readonly value?: unknown };
    const next = name === undefined ? undefined : plans.get(name);
    if (next !== undefined) walk(next, value as Fields, report);
  }
  for (const { field, plan: next } of plan.fields) {
    const value = message[field.localName];
    if (value === undefined) continue;
    if (field.fieldKind === "message") walk(next, value as Fields, report);
    else
      for (const each of field.fieldKind === "list" ? (value as Fields[]) : Object.values(value as object))
        walk(next, each as Fields, report);
  }
}

/** True when a message is a wanted one, or can contain one at any depth. */
function reaches(start: DescMessage, isWanted: (schema: DescMessage) => boolean): boolean {
  const seen = new Set([start]);
  for (const schema of seen) {
    if (isWanted(schema)) return true;
    for (const { message } of schema.fields) if (message !== undefined) seen.add(message);
  }
  return false;
}
