import { stringify } from "yaml";
import { z, type ZodType } from "zod";

/** Matches names of settings whose values must be redacted. */
const SENSITIVE_KEY = /password|secret(?!s?(folder|file))|token(?!endpoint|seconds)|accesskey|accountkey|credential/i;
/** Headers may hold keys under any name. */
const SENSITIVE_OBJECTS = /^headers$/i;
const REDACTED = "[secret]";

/** Prints the JSON schema of a configuration as written: settings with a default are optional. */
export function configJsonSchema(schema: ZodType): string {
  return `${JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), null, 2)}\n`;
}

/** Prints the effective configuration as YAML, without secrets. */
export function redactedConfigYaml(config: unknown): string {
  return stringify(redact(config, ""));
}

/** Password of an address, or of one in a list of addresses. */
const ADDRESS_PASSWORD = /((?:[a-z][a-z0-9+.-]*:\/\/|,\s*)[^/@:\s,]*):[^/@\s,]*@/gi;
/** Password in the query of an address, which PostgreSQL accepts. */
const QUERY_PASSWORD = /([?&](?:ssl)?password=)[^&\s]*/gi;

function redactAddresses(text: string): string {
  return text.replaceAll(ADDRESS_PASSWORD, `$1:${REDACTED}@`).replaceAll(QUERY_PASSWORD, `$1${REDACTED}`);
}

function redact(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, key));
  if (typeof value === "object" && value !== null) {
    const hidden = SENSITIVE_OBJECTS.test(key);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hidden ? REDACTED : redact(inner, name)]));
  }
  if (typeof value !== "string") return value;
  if (SENSITIVE_KEY.test(key) && value !== "") return REDACTED;
  return redactAddresses(value);
}
