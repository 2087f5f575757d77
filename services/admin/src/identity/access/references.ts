import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { Permission } from "@flyte-ts/auth";

type Fields = Readonly<Record<string, unknown>>;

interface Plan {
  /** True when the message itself names a project and a domain. */
  readonly names: boolean;
  /** Fields that lead to such a message. */
  readonly through: readonly DescField[];
}

const plans = new WeakMap<DescMessage, Plan>();

/**
 * Returns the permissions for the objects that a request refers to: each project and domain named
 * by any nested message. The caller must be able to read them, since the result shows or uses them.
 * Follows the descriptors, so that fields added to the API are covered.
 */
export function referencePermissions(schema: DescMessage, message: object): Permission[] {
  const found = new Map<string, Permission>();
  walk(schema, message as Fields, (project, domain) => {
    if (project === "" && domain === "") return;
    const key = JSON.stringify([project, domain]);
    if (!found.has(key)) found.set(key, { role: "viewer", scope: { kind: "project", project, domain } });
  });
  return [...found.values()];
}

function walk(schema: DescMessage, message: Fields, report: (project: string, domain: string) => void): void {
  const { names, through } = planOf(schema);
  if (names) report(String(message.project), String(message.domain));
  for (const field of through) {
    if (field.message === undefined) continue;
    for (const each of valuesOf(field, message)) walk(field.message, each as Fields, report);
  }
}

function valuesOf(field: DescField, message: Fields): readonly unknown[] {
  let value = message[field.localName];
  if (field.oneof !== undefined) {
    const chosen = message[field.oneof.localName] as { readonly case?: string; readonly value?: unknown };
    value = chosen.case === field.localName ? chosen.value : undefined;
  }
  if (value === undefined) return [];
  switch (field.fieldKind) {
    case "list":
      return value as readonly unknown[];
    case "map":
      return Object.values(value as object);
    default:
      return [value];
  }
}

function planOf(schema: DescMessage): Plan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = { names: namesScope(schema), through: schema.fields.filter(({ message }) => message !== undefined && reaches(message)) };
    plans.set(schema, plan);
  }
  return plan;
}

function namesScope({ field }: DescMessage): boolean {
  return field.project?.scalar === ScalarType.STRING && field.domain?.scalar === ScalarType.STRING;
}

/** True when a message can contain, at any depth, one that names a project and a domain. */
function reaches(start: DescMessage): boolean {
  const seen = new Set([start]);
  for (const schema of seen) {
    if (namesScope(schema)) return true;
    for (const { message } of schema.fields) if (message !== undefined) seen.add(message);
  }
  return false;
}
