import { create } from "@bufbuild/protobuf";
import {
  IdentifierSchema,
  ResourceType,
  type Identifier,
  type WorkflowExecutionIdentifier,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";

const TEXT_FIELDS = ["project", "domain", "name", "version", "org"] as const;

/**
 * Formats the identifier as Go prints the message, which is the key of `tasks`, `subWorkflows` and
 * of references to them in the FlyteWorkflow resource: fields that are set, in order, two spaces
 * between them. (Go builds differ in printing one space or two; published builds of Flyte print
 * two, and parseIdentifierKey accepts either.)
 */
export function identifierKey(id: Omit<Identifier, "$typeName">): string {
  const parts: string[] = [];
  if (id.resourceType !== ResourceType.UNSPECIFIED) parts.push(`resource_type:${ResourceType[id.resourceType] ?? id.resourceType}`);
  for (const field of TEXT_FIELDS) if (id[field] !== "") parts.push(`${field}:${quote(id[field])}`);
  return parts.join("  ");
}

function quote(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are the characters that the text format escapes
  return `"${text.replace(/["\\\u0000-\u001f\u007f-\u009f]/g, escape)}"`;
}

function escape(character: string): string {
  switch (character) {
    case '"':
    case "\\":
      return `\\${character}`;
    case "\n":
      return "\\n";
    case "\r":
      return "\\r";
    case "\t":
      return "\\t";
    default: {
      const hex = character.charCodeAt(0).toString(16);
      return character < "\u0080" ? `\\x${hex.padStart(2, "0")}` : `\\u${hex.padStart(4, "0")}`;
    }
  }
}

const FIELD = /\s*([a-z_]+):\s*(?:"((?:[^"\\]|\\.)*)"|([A-Z_]+|\d+))\s*/y;

/**
 * Parses the result of identifierKey.
 * @throws SyntaxError that names the key, when it is no identifier in text form.
 */
export function parseIdentifierKey(key: string): Identifier {
  const id = create(IdentifierSchema);
  FIELD.lastIndex = 0;
  while (FIELD.lastIndex < key.length) {
    const start = FIELD.lastIndex;
    const match = FIELD.exec(key);
    const field = match?.[1];
    if (match === null || field === undefined) throw new SyntaxError(`not an identifier, at character ${start}: ${JSON.stringify(key)}`);
    if (field === "resource_type" && match[3] !== undefined) id.resourceType = resourceType(match[3], key);
    else if (isTextField(field) && match[2] !== undefined) id[field] = unquote(match[2]);
    else throw new SyntaxError(`not an identifier, unexpected ${field}: ${JSON.stringify(key)}`);
  }
  return id;
}

function isTextField(field: string): field is (typeof TEXT_FIELDS)[number] {
  return (TEXT_FIELDS as readonly string[]).includes(field);
}

function resourceType(text: string, key: string): ResourceType {
  const value: unknown = /^\d+$/.test(text) ? Number(text) : ResourceType[text as keyof typeof ResourceType];
  if (typeof value !== "number") throw new SyntaxError(`not an identifier, unknown resource type ${text}: ${JSON.stringify(key)}`);
  return value;
}

function unquote(text: string): string {
  return text.replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gis, (_whole, ...groups: (string | undefined)[]) => {
    const [hex, short, long, character = ""] = groups;
    const code = hex ?? short ?? long;
    if (code !== undefined) return String.fromCodePoint(Number.parseInt(code, 16));
    return { n: "\n", r: "\r", t: "\t" }[character] ?? character;
  });
}

/** `project/domain/name`, the key of an execution in maps and logs. */
export function executionKey(id: Pick<WorkflowExecutionIdentifier, "project" | "domain" | "name">): string {
  return `${id.project}/${id.domain}/${id.name}`;
}

/** `project:domain:name`, a workflow in `spec.id` of the FlyteWorkflow resource. */
export function workflowIdText(id: Pick<Identifier, "project" | "domain" | "name">): string {
  return `${id.project}:${id.domain}:${id.name}`;
}
