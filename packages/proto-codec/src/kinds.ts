import type { DescField } from "@bufbuild/protobuf";

/**
 * False for messages that the library represents differently in a field: wrappers as scalars,
 * Struct as JSON.
 */
export function isRegularMessage(field: DescField): boolean {
  if ("delimitedEncoding" in field && field.delimitedEncoding) return false;
  const name = field.message?.typeName ?? "";
  return !name.startsWith("google.protobuf.") || PLAIN.has(name);
}

const PLAIN: ReadonlySet<string> = new Set(["google.protobuf.Timestamp", "google.protobuf.Duration"]);
