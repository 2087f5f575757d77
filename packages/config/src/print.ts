import { stringify } from "yaml";
import { z, type ZodType } from "zod";

/** Matches names of settings whose values must be redacted. */
const SECRET = /password|secret(?!s?(folder|file))|token(?!endpoint|seconds)|accesskey|accountkey|credential/i;
/** Headers may hold keys under any name. */
const HOLDERS = /^headers$/i;
const HIDDEN = "[secret]";

/** Prints the JSON schema of a configuration as written: settings with a default are optional. */
export function schemaText(schema: ZodType): string {
  return `${JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), null, 2)}\n`;
}

/** Prints the effective configuration as YAML, without secrets. */
export function configText(config: unknown): string {
  return stringify(shown(config, ""));
}

function shown(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((each) => shown(each, key));
  if (typeof value === "object" && value !== null) {
    const hidden = HOLDERS.test(key);
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hidden ? HIDDEN : shown(inner, name)]));
  }
  if (typeof value !== "string") return value;
  if (SECRET.test(key) && value !== "") return HIDDEN;
  // Redacts a password within an address.
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:\s]*):[^/@\s]*@/i, `$1:${HIDDEN}@`);
}
