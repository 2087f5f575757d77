import { MAX_NESTING } from "@flyte-ts/domain/type";
import { MsgpackError, readHead } from "@flyte-ts/domain/literal";
import type { PlainValue } from "./plain.js";

/**
 * Decodes one msgpack value; integers become bigints, floats numbers. Keys of maps become strings,
 * as in JavaScript.
 *
 * @throws MsgpackError for truncated or malformed bytes, extensions, and values nested too deeply
 */
export function readMsgpack(bytes: Uint8Array): PlainValue {
  const [value, end] = read(bytes, 0, 0);
  if (end !== bytes.length) throw new MsgpackError(`${bytes.length - end} bytes follow the msgpack value`);
  return value;
}

function read(bytes: Uint8Array, offset: number, depth: number): readonly [PlainValue, number] {
  if (depth > MAX_NESTING) throw new MsgpackError(`the msgpack value nests deeper than ${MAX_NESTING} levels`);
  const head = readHead(bytes, offset);
  switch (head.kind) {
    case "nil":
      return [null, head.next];
    case "boolean":
    case "integer":
    case "float":
    case "string":
      return [head.value, head.next];
    case "binary":
      return [bytes.slice(head.next - head.size, head.next), head.next];
    case "extension":
      throw new MsgpackError(`the MessagePack extension at byte ${offset} is not supported`);
    case "array":
      return readArray(bytes, head, depth);
    case "map":
      return readMap(bytes, head, depth);
  }
}

interface Collection {
  readonly count: number;
  readonly next: number;
}

function readArray(bytes: Uint8Array, { count, next }: Collection, depth: number): readonly [PlainValue, number] {
  const items: PlainValue[] = [];
  let at = next;
  for (let i = 0; i < count; i++) {
    const [item, end] = read(bytes, at, depth + 1);
    items.push(item);
    at = end;
  }
  return [items, at];
}

function readMap(bytes: Uint8Array, { count, next }: Collection, depth: number): readonly [PlainValue, number] {
  const entries: (readonly [string, PlainValue])[] = [];
  let at = next;
  for (let i = 0; i < count; i++) {
    const [key, afterKey] = read(bytes, at, depth + 1);
    if (typeof key === "object" && key !== null) throw new MsgpackError(`the key of a map at ${at} is no text and no number`);
    const [item, end] = read(bytes, afterKey, depth + 1);
    entries.push([String(key), item]);
    at = end;
  }
  return [Object.fromEntries(entries), at];
}
