import { equalJson } from "./merge-patch.js";
import { type Json, isObject, show } from "./model.js";

/** An operation of RFC 6902 that cannot be applied. */
export class JsonPatchError extends Error {
  override readonly name = "JsonPatchError";
}

type Mutable = null | boolean | number | string | undefined | Mutable[] | { [key: string]: Mutable };

/** Applies an RFC 6902 patch to a copy of the document. */
export function jsonPatch(document: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw new JsonPatchError("a JSON patch is a list of operations");
  let root = structuredClone(document) as Mutable;
  for (const operation of operations as readonly Json[]) {
    if (!isObject(operation)) throw new JsonPatchError("an operation is an object");
    root = apply(root, operation as { readonly [key: string]: Json | undefined });
  }
  return root as Json;
}

function apply(root: Mutable, operation: { readonly [key: string]: Json | undefined }): Mutable {
  const { op } = operation;
  const path = pointer(operation["path"]);
  switch (op) {
    case "add":
      return put(root, path, { value: valueOf(operation), insert: true });
    case "replace":
      read(root, path);
      return put(root, path, { value: valueOf(operation), insert: false });
    case "remove":
      return remove(root, path);
    case "test":
      if (!equalJson(read(root, path) as Json, valueOf(operation) as Json)) throw new JsonPatchError(`testing value ${text(path)} failed`);
      return root;
    case "copy":
      return put(root, path, { value: structuredClone(read(root, pointer(operation["from"]))), insert: true });
    case "move": {
      const from = pointer(operation["from"]);
      const value = read(root, from);
      return put(remove(root, from), path, { value, insert: true });
    }
    default:
      throw new JsonPatchError(`unknown operation ${JSON.stringify(op)}`);
  }
}

function valueOf(operation: { readonly [key: string]: Json | undefined }): Mutable {
  if (operation["value"] === undefined) throw new JsonPatchError(`operation ${show(operation["op"])} needs a value`);
  return structuredClone(operation["value"]) as Mutable;
}

function pointer(path: Json | undefined): string[] {
  if (typeof path !== "string" || (path !== "" && !path.startsWith("/"))) throw new JsonPatchError(`not a JSON pointer: ${show(path)}`);
  const parts = path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (parts.includes("__proto__")) throw new JsonPatchError("a JSON pointer must not name __proto__");
  return parts;
}

const text = (path: readonly string[]) => `/${path.join("/")}`;

function read(root: Mutable, path: readonly string[]): Mutable {
  let current = root;
  for (const key of path) {
    current = child(current, key);
    if (current === undefined) throw new JsonPatchError(`the path ${text(path)} does not exist`);
  }
  return current;
}

function child(parent: Mutable, key: string): Mutable {
  if (Array.isArray(parent)) return /^(0|[1-9]\d*)$/.test(key) ? parent[Number(key)] : undefined;
  return typeof parent === "object" && parent !== null && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

function put(root: Mutable, path: readonly string[], { value, insert }: { value: Mutable; insert: boolean }): Mutable {
  const last = path.at(-1);
  if (last === undefined) return value;
  const parent = read(root, path.slice(0, -1));
  if (Array.isArray(parent)) {
    const index = last === "-" ? parent.length : Number(last);
    if (!(index >= 0 && index <= parent.length)) throw new JsonPatchError(`the index of ${text(path)} is out of range`);
    parent.splice(index, insert ? 0 : 1, value);
  } else if (typeof parent === "object" && parent !== null) parent[last] = value;
  else throw new JsonPatchError(`the path ${text(path)} does not exist`);
  return root;
}

function remove(root: Mutable, path: readonly string[]): Mutable {
  read(root, path);
  const last = path.at(-1) ?? "";
  const parent = read(root, path.slice(0, -1));
  if (Array.isArray(parent)) parent.splice(Number(last), 1);
  else if (typeof parent === "object" && parent !== null) delete parent[last];
  return root;
}
