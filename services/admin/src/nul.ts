import type { JsonValue } from "@bufbuild/protobuf";
import { invalidArgument } from "./invalid.js";

/**
 * Refuses NUL characters anywhere in a value: PostgreSQL's jsonb holds none, and neither do
 * environments, labels and other texts of resources in the data plane.
 *
 * @throws RpcError INVALID_ARGUMENT naming the place.
 */
export function refuseNul(value: JsonValue, field: string): void {
  if (typeof value === "string") {
    if (value.includes("\0")) throw invalidArgument(`invalid value for ${field}: NUL characters are not allowed`);
  } else if (typeof value === "object" && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      refuseNul(key, field);
      refuseNul(item, `${field}.${key}`);
    }
  }
}
