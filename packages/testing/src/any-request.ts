import { create, type DescField, type DescMessage, type Message } from "@bufbuild/protobuf";
import { reflect } from "@bufbuild/protobuf/reflect";

/** Project and domain of a request. */
export interface About {
  readonly project: string;
  readonly domain: string;
}

/** Fields that refer to more than the request's subject: tested one by one. */
const LEFT_OUT = ["parentNodeExecution", "referenceExecution", "artifactIds", "org"];

/** Builds a request of any kind for one project and domain, set wherever its message has fields for them. */
export function anyRequest(schema: DescMessage, about: About): Message {
  const message = create(schema);
  fill(schema, message, { about, above: [] });
  return message;
}

function fill(schema: DescMessage, message: Message, { about, above }: { about: About; above: readonly DescMessage[] }): void {
  const target = reflect(schema, message);
  const chosen = new Set<string>();
  for (const field of schema.fields) {
    if (LEFT_OUT.includes(field.localName)) continue;
    const text = textFor(field, about);
    if (text !== undefined && field.oneof === undefined) target.set(field, text);
    if (field.fieldKind !== "message" || above.includes(field.message) || !holdsNames(field.message)) continue;
    if (field.oneof !== undefined && chosen.has(field.oneof.name)) continue;
    if (field.oneof !== undefined) chosen.add(field.oneof.name);
    const inner = create(field.message);
    fill(field.message, inner, { about, above: [...above, schema] });
    target.set(field, reflect(field.message, inner));
  }
}

function textFor(field: DescField, { project, domain }: About): string | undefined {
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

const NAMES = ["project", "domain", "id"];

function holdsNames(start: DescMessage): boolean {
  const seen = new Set([start]);
  for (const schema of seen) {
    for (const field of schema.fields) {
      if (field.fieldKind === "scalar" && NAMES.includes(field.localName)) return true;
      if (field.fieldKind === "message" && !LEFT_OUT.includes(field.localName)) seen.add(field.message);
    }
  }
  return false;
}
