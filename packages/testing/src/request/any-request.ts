import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

/** Project and domain of a request. */
export interface RequestScope {
  readonly project: string;
  readonly domain: string;
}

/** Fields that refer to other objects than the request's subject; each has tests of its own. */
const EXCLUDED_FIELDS = ["parentNodeExecution", "referenceExecution", "artifactIds", "org"];

/**
 * Builds a request of any kind for one project and domain, set wherever its message has fields for
 * them.
 */
export function anyRequest(schema: DescMessage, scope: RequestScope): Message {
  const message = create(schema);
  fillMessage(schema, message, { about: scope, above: [] });
  return message;
}

function fillMessage(
  schema: DescMessage,
  message: Message,
  { about: scope, above: ancestors }: { about: RequestScope; above: readonly DescMessage[] },
): void {
  const target = reflect(schema, message);
  const chosen = new Set<string>();
  for (const field of schema.fields) {
    if (EXCLUDED_FIELDS.includes(field.localName)) continue;
    const value = fieldText(field, scope);
    if (value !== undefined && field.oneof === undefined) target.set(field, value);
    if (field.fieldKind !== "message" || ancestors.includes(field.message) || !hasScopeFields(field.message)) continue;
    if (field.oneof !== undefined && chosen.has(field.oneof.name)) continue;
    if (field.oneof !== undefined) chosen.add(field.oneof.name);
    const inner = create(field.message);
    fillMessage(field.message, inner, { about: scope, above: [...ancestors, schema] });
    target.set(field, reflect(field.message, inner));
  }
}

function fieldText(field: DescField, { project, domain }: RequestScope): string | undefined {
  if (field.fieldKind !== "scalar" || field.scalar !== 9) return undefined;
  switch (field.localName) {
    case "project":
    case "id":
      return project;
    case "domain":
      return domain;
    case "flyteUrl":
      return `flyte://v1/${project}/${domain}/e/n0/i`;
    case "nativeUrl":
      return `s3://my-s3-bucket/${project}/${domain}/abc/file`;
    case "name":
    case "version":
    case "nodeId":
    case "signalId":
    case "workflow":
      return "n0";
    default:
      return undefined;
  }
}

const SCOPE_FIELDS = ["project", "domain", "id"];

function hasScopeFields(start: DescMessage): boolean {
  const seen = new Set([start]);
  for (const schema of seen) {
    for (const field of schema.fields) {
      if (field.fieldKind === "scalar" && SCOPE_FIELDS.includes(field.localName)) return true;
      if (field.fieldKind === "message" && !EXCLUDED_FIELDS.includes(field.localName)) seen.add(field.message);
    }
  }
  return false;
}
