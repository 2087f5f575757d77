import type { JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "./rpc-errors.js";

/**
 * Rejects NUL characters anywhere in a value: neither PostgreSQL's jsonb nor environments, labels
 * and other texts of Kubernetes resources can contain them.
 *
 * @throws RpcError INVALID_ARGUMENT naming the field.
 */
export function rejectNul(value: JsonValue, field: string): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw invalidArgument(`invalid value for ${field}: NUL characters are not allowed`);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      rejectNul(key, field);
      rejectNul(item, `${field}.${key}`);
    }
  }
}
