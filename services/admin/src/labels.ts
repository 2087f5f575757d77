import type { Labels } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { invalidArgument } from "./invalid.js";

/** Most labels of one project, launch plan or execution. */
const MAX_LABELS = 16;

const namePart = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const NAME_RULE = "must be at most 63 characters of letters, digits, '-', '_' and '.', and start and end with a letter or digit";

/**
 * Checks labels as Kubernetes does, since they become labels of its objects.
 *
 * @throws RpcError INVALID_ARGUMENT naming the key or value.
 */
export function checkLabels(labels: Labels | undefined): void {
  const entries = Object.entries(labels?.values ?? {});
  if (entries.length > MAX_LABELS) throw invalidArgument(`labels map cannot exceed ${MAX_LABELS} entries`);
  for (const [key, value] of entries) {
    if (!isQualifiedName(key))
      throw invalidArgument(`invalid label key [${key}]: its name part ${NAME_RULE}; a prefix must be a DNS subdomain`);
    if (value !== "" && !(value.length <= 63 && namePart.test(value)))
      throw invalidArgument(`invalid label value [${value}]: it ${NAME_RULE}`);
  }
}

function isQualifiedName(key: string): boolean {
  const slash = key.indexOf("/");
  const name = key.slice(slash + 1);
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  return name.length <= 63 && namePart.test(name) && (prefix === undefined || (prefix.length <= 253 && subdomain.test(prefix)));
}
