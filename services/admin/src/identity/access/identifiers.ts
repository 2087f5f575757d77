import type { DescMessage } from "@bufbuild/protobuf";

type Fields = Readonly<Record<string, unknown>>;

/** Names of text fields that identify objects in requests. */
const NAMES = [
  "project",
  "domain",
  "org",
  "id",
  "name",
  "version",
  "workflow",
  "nodeId",
  "signalId",
  "messageId",
  "filename",
  "role",
  "subject",
  "group",
];
/** Fields whose messages contain such texts. */
const HOLDERS = [
  "id",
  "executionId",
  "nodeExecutionId",
  "project",
  "attributes",
  "binding",
  "launchPlan",
  "spec",
  "holder",
  "workflowId",
  "trigger",
  "policy",
];
const MAX_LENGTH = 200;

/** Extracts the identifiers of a request or response for the audit log, without its payload. */
export function identifiersOf(schema: DescMessage, message: unknown): Readonly<Record<string, unknown>> {
  return namesIn(schema, message as Fields, 4);
}

function namesIn(schema: DescMessage, message: Fields, depth: number): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const field of schema.fields) {
    const value = field.oneof === undefined ? message[field.localName] : chosen(message, field.oneof.localName, field.localName);
    if (field.fieldKind === "scalar" && NAMES.includes(field.localName) && typeof value === "string" && value !== "") {
      found[field.name] = value.length > MAX_LENGTH ? `${value.slice(0, MAX_LENGTH)}…` : value;
    } else if (field.fieldKind === "message" && HOLDERS.includes(field.localName) && value !== undefined && depth > 0) {
      const inner = namesIn(field.message, value as Fields, depth - 1);
      if (Object.keys(inner).length > 0) found[field.name] = inner;
    }
  }
  return found;
}

function chosen(message: Fields, oneof: string, name: string): unknown {
  const { case: given, value } = (message[oneof] ?? {}) as { case?: string; value?: unknown };
  return given === name ? value : undefined;
}

/** Returns the first project and domain among the identifiers. */
export function scopeOf(identifiers: Readonly<Record<string, unknown>>): { readonly project: string; readonly domain: string } {
  const { project, domain } = identifiers;
  if (typeof project === "string") return { project, domain: typeof domain === "string" ? domain : "" };
  for (const value of Object.values(identifiers)) {
    if (typeof value !== "object" || value === null) continue;
    const inner = scopeOf(value as Record<string, unknown>);
    if (inner.project !== "") return inner;
  }
  return { project: "", domain: "" };
}
