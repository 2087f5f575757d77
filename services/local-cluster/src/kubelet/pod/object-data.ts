import { isObject, type KubeObject } from "../../object/model.js";

/** Decodes the entries of a secret or config map. */
export function dataOf(kind: "Secret" | "ConfigMap", object: KubeObject): ReadonlyMap<string, Buffer> {
  const entries = new Map<string, Buffer>();
  const add = (data: unknown, encoding: BufferEncoding) => {
    if (!isObject(data)) return;
    for (const [key, value] of Object.entries(data)) if (typeof value === "string") entries.set(key, Buffer.from(value, encoding));
  };
  if (kind === "Secret") add(object["data"], "base64");
  else {
    add(object["data"], "utf8");
    add(object["binaryData"], "base64");
  }
  return entries;
}
