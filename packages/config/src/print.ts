import { stringify } from "yaml";
import { z, type ZodType } from "zod";

/** Names of settings whose values are nobody's to read. */
const SECRET = /password|secret(?!s?(folder|file))|token(?!endpoint|seconds)|accesskey|accountkey|credential/i;
/** Headers may hold keys, whatever they are called. */
const HOLDERS = /^headers$/i;
const HIDDEN = "[secret]";

/** The JSON schema of a configuration as it may be written: what has a default may be left out. */
export function schemaText(schema: ZodType): string {
  return `${JSON.stringify(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }), null, 2)}\n`;
}

/** A configuration in force, as YAML, without what is secret. */
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
  // A password inside of an address.
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/@:\s]*):[^/@\s]*@/i, `$1:${HIDDEN}@`);
}
