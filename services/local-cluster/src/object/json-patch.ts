import { isDeeper } from "./depth.js";
import { equalJson } from "./merge-patch.js";
import { type Json, isObject, show } from "./model.js";

/** An RFC 6902 operation cannot be applied. */
export class JsonPatchError extends Error {
  override readonly name = "JsonPatchError";
}

type Mutable = null | boolean | number | string | undefined | Mutable[] | { [key: string]: Mutable };

/**
 * Maximum number of operations and copied bytes of a patch, as in Kubernetes: each copy operation
 * can double the document.
 */
const MAX_OPERATIONS = 10_000;
const MAX_COPIED_BYTES = 3 << 20;
/** Maximum nesting of a patched document. */
const MAX_DEPTH = 500;
/** Maximum number of path components in a patch. */
const MAX_STEPS = 100_000;
/** Maximum number of list items that a patch may shift. */
const MAX_MOVED_ITEMS = 10_000_000;

/** Remaining work that a patch may cause. */
interface PatchBudget {
  copiedBytes: number;
  steps: number;
  movedItems: number;
}

/** Applies an RFC 6902 patch to a copy of the document. */
export function jsonPatch(document: Json, operations: Json): Json {
  if (!Array.isArray(operations)) throw new JsonPatchError("a JSON patch is a list of operations");
  if (operations.length > MAX_OPERATIONS) throw new JsonPatchError(`a JSON patch has at most ${MAX_OPERATIONS} operations`);
  let root = structuredClone(document) as Mutable;
  const budget = { copiedBytes: MAX_COPIED_BYTES, steps: MAX_STEPS, movedItems: MAX_MOVED_ITEMS };
  for (const operation of operations as readonly Json[]) {
    if (!isObject(operation)) throw new JsonPatchError("an operation is an object");
    root = apply(root, operation as { readonly [key: string]: Json | undefined }, budget);
  }
  if (isDeeper(root, MAX_DEPTH)) throw new JsonPatchError(`the patched object is nested more than ${MAX_DEPTH} levels deep`);
  return root as Json;
}

function apply(root: Mutable, operation: { readonly [key: string]: Json | undefined }, budget: PatchBudget): Mutable {
  const { op } = operation;
  const path = pointer(operation["path"], budget);
  switch (op) {
    case "add":
      return put(root, path, { value: valueOf(operation), insert: true, allowance: budget });
    case "replace":
      read(root, path);
      return put(root, path, { value: valueOf(operation), insert: false, allowance: budget });
    case "remove":
      return remove(root, path, budget);
    case "test":
      if (!equalJson(read(root, path) as Json, valueOf(operation) as Json)) throw new JsonPatchError(`testing value ${text(path)} failed`);
      return root;
    case "copy":
      return put(root, path, { value: deepCopy(read(root, pointer(operation["from"], budget)), budget), insert: true, allowance: budget });
    case "move": {
      const from = pointer(operation["from"], budget);
      const value = read(root, from);
      return put(remove(root, from, budget), path, { value, insert: true, allowance: budget });
    }
    default:
      throw new JsonPatchError(`unknown operation ${JSON.stringify(op)}`);
  }
}

function valueOf(operation: { readonly [key: string]: Json | undefined }): Mutable {
  if (operation["value"] === undefined) throw new JsonPatchError(`operation ${show(operation["op"])} needs a value`);
  return structuredClone(operation["value"]) as Mutable;
}

function deepCopy(value: Mutable, budget: PatchBudget): Mutable {
  const text = JSON.stringify(value) ?? "null";
  budget.copiedBytes -= text.length;
  if (budget.copiedBytes < 0) throw new JsonPatchError(`the operations copy more than ${MAX_COPIED_BYTES} bytes`);
  return JSON.parse(text) as Mutable;
}

function pointer(path: Json | undefined, budget: PatchBudget): string[] {
  if (typeof path !== "string" || (path !== "" && !path.startsWith("/"))) throw new JsonPatchError(`not a JSON pointer: ${show(path)}`);
  const parts = path
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  budget.steps -= parts.length;
  if (budget.steps < 0) throw new JsonPatchError(`the paths of the operations have more than ${MAX_STEPS} parts`);
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

interface Put {
  readonly value: Mutable;
  readonly insert: boolean;
  readonly allowance: PatchBudget;
}

function put(root: Mutable, path: readonly string[], { value, insert, allowance: budget }: Put): Mutable {
  const last = path.at(-1);
  if (last === undefined) return value;
  const parent = read(root, path.slice(0, -1));
  if (Array.isArray(parent)) {
    const index = last === "-" ? parent.length : Number(last);
    if (!(index >= 0 && index <= parent.length)) throw new JsonPatchError(`the index of ${text(path)} is out of range`);
    if (insert) spendMoved(parent.length - index, budget);
    parent.splice(index, insert ? 0 : 1, value);
  } else if (typeof parent === "object" && parent !== null) parent[last] = value;
  else throw new JsonPatchError(`the path ${text(path)} does not exist`);
  return root;
}

function spendMoved(items: number, budget: PatchBudget): void {
  budget.movedItems -= items;
  if (budget.movedItems < 0) throw new JsonPatchError(`the operations move more than ${MAX_MOVED_ITEMS} items of lists`);
}

function remove(root: Mutable, path: readonly string[], budget: PatchBudget): Mutable {
  read(root, path);
  const last = path.at(-1) ?? "";
  const parent = read(root, path.slice(0, -1));
  if (Array.isArray(parent)) {
    spendMoved(parent.length - Number(last), budget);
    parent.splice(Number(last), 1);
  } else if (typeof parent === "object" && parent !== null) delete parent[last];
  return root;
}
