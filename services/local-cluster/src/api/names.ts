import { type Cause, MAX_CAUSES } from "./api-error.js";
import { isObject, type JsonObject, type KubeObject } from "../object/model.js";

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const NAME_PART_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const MAX_SHOWN_CHARS = 1_000;

/** Formats a value for an error and truncates it, since it may have megabytes. */
function shownValue(value: unknown): string {
  const text = JSON.stringify(typeof value === "string" ? value.slice(0, MAX_SHOWN_CHARS) : value) ?? "";
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}

export const invalidValue = (field: string, value: unknown, rule: string): Cause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${shownValue(value)}: ${rule}`,
  field,
});

export const required = (field: string, rule = ""): Cause => ({
  reason: "FieldValueRequired",
  message: rule === "" ? "Required value" : `Required value: ${rule}`,
  field,
});

export function checkLabel(field: string, value: string): Cause[] {
  if (value.length > 63) return [invalidValue(field, value, "must be no more than 63 characters")];
  return LABEL.test(value) ? [] : [invalidValue(field, value, LABEL_RULE)];
}

function checkSubdomain(field: string, value: string): Cause[] {
  if (value.length > 253) return [invalidValue(field, value, "must be no more than 253 characters")];
  return SUBDOMAIN.test(value) ? [] : [invalidValue(field, value, SUBDOMAIN_RULE)];
}

/** Checks the metadata of any kind: name, label keys and values, annotation keys. */
export function checkMetadata({ kind, metadata }: KubeObject): Cause[] {
  const byKind = kind === "Namespace" ? checkLabel : checkSubdomain;
  return [
    ...byKind("metadata.name", metadata.name),
    ...firstCauses(entriesOf(metadata["labels"]), ([key, value]) => [...checkQualified("metadata.labels", key), ...checkLabelValue(value)]),
    ...firstCauses(entriesOf(metadata["annotations"]), ([key, value]) => [
      ...checkQualified("metadata.annotations", key.toLowerCase()),
      ...(typeof value === "string" ? [] : [invalidValue("metadata.annotations", value, "must be a string")]),
    ]),
    ...firstCauses(metadata.finalizers ?? [], (name) => (typeof name === "string" ? checkQualified("metadata.finalizers", name) : [])),
    ...firstCauses(metadata.ownerReferences ?? [], (owner, index) =>
      (["apiVersion", "kind", "name", "uid"] as const).flatMap((field) =>
        typeof owner[field] === "string" && owner[field] !== ""
          ? []
          : [required(`metadata.ownerReferences[${index}].${field}`, "must not be empty")],
      ),
    ),
  ];
}

/** Checks items until an error holds its maximum of causes. */
function firstCauses<Item>(items: readonly Item[], check: (item: Item, index: number) => readonly Cause[]): Cause[] {
  const causes: Cause[] = [];
  for (const [index, item] of items.entries()) {
    causes.push(...check(item, index));
    if (causes.length >= MAX_CAUSES) break;
  }
  return causes;
}

const entriesOf = (map: unknown): [string, unknown][] => (isObject(map) ? Object.entries(map as JsonObject) : []);

function checkQualified(field: string, key: string): Cause[] {
  const slash = key.lastIndexOf("/");
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  if (prefix !== undefined && !SUBDOMAIN.test(prefix)) return [invalidValue(field, key, `prefix part ${SUBDOMAIN_RULE}`)];
  if (name.length > 63) return [invalidValue(field, key, "name part must be no more than 63 characters")];
  return QUALIFIED.test(name) ? [] : [invalidValue(field, key, NAME_PART_RULE)];
}

function checkLabelValue(value: unknown): Cause[] {
  if (typeof value !== "string") return [invalidValue("metadata.labels", value, "must be a string")];
  if (value.length > 63) return [invalidValue("metadata.labels", value, "must be no more than 63 characters")];
  return LABEL_VALUE.test(value) ? [] : [invalidValue("metadata.labels", value, VALUE_RULE)];
}
