import { messagePlaces, unparsedFiles } from "./lazy-object.js";
import { type MessageLayout, readLayout, type Search } from "./layout.js";
import { all, partsOf, textOf } from "./message-parts.js";

// Numbers of the fields of descriptors.
const FILE = { package: 2, message: 4, syntax: 12 };
const DESCRIPTOR = { name: 1, nested: 3 };

/**
 * Returns the layout of a message that `lazy-descriptors` describes; undefined for messages of
 * others and those that are not of proto3.
 */
export function layoutOf(description: object): MessageLayout | undefined {
  const place = messagePlaces.get(description);
  if (place === undefined) return undefined;
  let message = filesOf(place.file)?.messages[place.path[0] ?? 0];
  for (const index of place.path.slice(1)) message = message?.nested[index];
  return message?.layout();
}

interface FoundMessage {
  readonly nested: readonly FoundMessage[];
  readonly layout: () => MessageLayout;
}

interface FoundFile {
  readonly messages: readonly FoundMessage[];
  readonly byName: ReadonlyMap<string, FoundMessage>;
  readonly imports: readonly object[];
}

const found = new WeakMap<object, FoundFile | "other">();

/** Finds the messages of a file without reading their fields; undefined unless it is of proto3. */
function filesOf(file: object): FoundFile | undefined {
  const known = found.get(file);
  if (known !== undefined) return known === "other" ? undefined : known;
  const { encoded, imports = [] } = unparsedFiles.get(file) ?? {};
  const made = encoded === undefined ? undefined : findMessages(file, Buffer.from(encoded, "base64"), imports);
  found.set(file, made ?? "other");
  return made;
}

function findMessages(file: object, bytes: Uint8Array, imports: readonly object[]): FoundFile | undefined {
  const parts = partsOf(bytes);
  if (textOf(parts, FILE.syntax) !== "proto3") return undefined;
  const byName = new Map<string, FoundMessage>();
  const search: Search = (typeName) => {
    const message = searchFiles(file, typeName);
    if (message === undefined) throw new Error(`${typeName} is not described`);
    return message.layout();
  };
  const messages = all(parts, FILE.message).map((part) => foundMessage(part, textOf(parts, FILE.package), { byName, search }));
  return { messages, byName, imports };
}

function searchFiles(file: object, typeName: string, searched = new Set<object>()): FoundMessage | undefined {
  if (searched.has(file)) return undefined;
  searched.add(file);
  const { byName, imports = [] } = filesOf(file) ?? {};
  const own = byName?.get(typeName);
  if (own !== undefined) return own;
  for (const imported of imports) {
    const message = searchFiles(imported, typeName, searched);
    if (message !== undefined) return message;
  }
  return undefined;
}

interface InFile {
  readonly byName: Map<string, FoundMessage>;
  readonly search: Search;
}

function foundMessage(bytes: Uint8Array, scope: string, file: InFile): FoundMessage {
  const parts = partsOf(bytes);
  const typeName = [scope, textOf(parts, DESCRIPTOR.name)].filter((name) => name !== "").join(".");
  const nested = all(parts, DESCRIPTOR.nested).map((part) => foundMessage(part, typeName, file));
  let layout: MessageLayout | undefined;
  const message: FoundMessage = { nested, layout: () => (layout ??= readLayout(parts, typeName, file.search)) };
  file.byName.set(typeName, message);
  return message;
}
