import type { Labels } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { invalidArgument } from "./rpc-errors.js";

/** Maximum of labels of one project, launch plan or execution. */
const MAX_LABELS = 16;

/** Maximum length, characters, of a label's value, and of the name part of its key. */
const MAX_NAME = 63;
const MAX_PREFIX = 253;

// Rules and texts of Kubernetes (apimachinery, util/validation), which Flyte returns.
const NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const SUBDOMAIN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const CHARACTERS = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const rule = (pattern: string, text: string, examples: readonly string[]) => {
  const named = examples.map((example) => `'${example}'`).join(",  or ");
  return { matches: new RegExp(`^${pattern}$`), breach: `${text} (e.g. ${named}, regex used for validation is '${pattern}')` };
};
const RULES = {
  value: rule(`(${NAME})?`, `a valid label must be an empty string or ${CHARACTERS}`, ["MyValue", "my_value", "12345"]),
  name: rule(NAME, `must ${CHARACTERS}`, ["MyName", "my.name", "123-abc"]),
  prefix: rule(
    SUBDOMAIN,
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    ["example.com"],
  ),
};

/**
 * Validates labels as Kubernetes does, since they become labels of its objects.
 *
 * @throws RpcError INVALID_ARGUMENT naming the key or value.
 */
export function checkLabels(labels: Labels | undefined): void {
  const entries = Object.entries(labels?.values ?? {});
  if (entries.length > MAX_LABELS) throw invalidArgument(`labels map cannot exceed ${MAX_LABELS} entries`);
  for (const [key, value] of entries) {
    const keyErrors = errorsOfKey(key);
    if (keyErrors.length > 0) throw invalidArgument(`invalid label key [${key}]: [${keyErrors.join(" ")}]`);
    const valueErrors = errorsOf("value", value, MAX_NAME);
    if (valueErrors.length > 0) throw invalidArgument(`invalid label value [${value}]: [${valueErrors.join(" ")}]`);
  }
}

function errorsOfKey(key: string): string[] {
  const parts = key.split("/");
  const [prefix, name] = parts.length > 1 ? parts : [undefined, key];
  if (parts.length > 2)
    return [`a qualified name ${RULES.name.breach} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  return [...(prefix === undefined ? [] : errorsOfPart("prefix", prefix, MAX_PREFIX)), ...errorsOfPart("name", name ?? "", MAX_NAME)];
}

function errorsOfPart(part: "name" | "prefix", value: string, maxLength: number): string[] {
  const errors = value === "" ? ["must be non-empty"] : errorsOf(part, value, maxLength);
  return errors.map((error) => `${part} part ${error}`);
}

/** A text that is too long is not matched against the pattern. */
function errorsOf(name: keyof typeof RULES, value: string, maxLength: number): string[] {
  if (value.length > maxLength) return [`must be no more than ${maxLength} characters`];
  return RULES[name].matches.test(value) ? [] : [RULES[name].breach];
}
