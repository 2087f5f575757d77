import type { Data } from "./data.js";

/** Depth of nested lists and objects that is read. */
const MAX_DEPTH = 100;

/**
 * Decodes msgpack. Returns undefined for what JSON has no form for: binary values, extensions and
 * keys that are not text; and for bytes that are not one whole value.
 */
export function decodeMsgpack(bytes: Uint8Array): Data | undefined {
  const reader: Reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0, depth: 0 };
  try {
    const data = read(reader);
    return reader.at === bytes.length ? data : undefined;
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return undefined;
    throw error;
  }
}

interface Reader {
  readonly view: DataView;
  at: number;
  depth: number;
}

function read(reader: Reader): Data {
  const marker = reader.view.getUint8(reader.at++);
  if (marker <= 0x7f) return BigInt(marker);
  if (marker >= 0xe0) return BigInt(marker - 0x100);
  if (marker <= 0x8f) return readObject(reader, marker & 0x0f);
  if (marker <= 0x9f) return readList(reader, marker & 0x0f);
  if (marker <= 0xbf) return readText(reader, marker & 0x1f);
  const readValue = READERS[marker];
  if (readValue === undefined) throw new RangeError("the value has no form in JSON");
  return readValue(reader);
}

const READERS: Readonly<Record<number, (reader: Reader) => Data>> = {
  0xc0: () => null,
  0xc2: () => false,
  0xc3: () => true,
  0xca: (reader) => reader.view.getFloat32(move(reader, 4)),
  0xcb: (reader) => reader.view.getFloat64(move(reader, 8)),
  0xcc: (reader) => BigInt(reader.view.getUint8(move(reader, 1))),
  0xcd: (reader) => BigInt(reader.view.getUint16(move(reader, 2))),
  0xce: (reader) => BigInt(reader.view.getUint32(move(reader, 4))),
  0xcf: (reader) => reader.view.getBigUint64(move(reader, 8)),
  0xd0: (reader) => BigInt(reader.view.getInt8(move(reader, 1))),
  0xd1: (reader) => BigInt(reader.view.getInt16(move(reader, 2))),
  0xd2: (reader) => BigInt(reader.view.getInt32(move(reader, 4))),
  0xd3: (reader) => reader.view.getBigInt64(move(reader, 8)),
  0xd9: (reader) => readText(reader, reader.view.getUint8(move(reader, 1))),
  0xda: (reader) => readText(reader, reader.view.getUint16(move(reader, 2))),
  0xdb: (reader) => readText(reader, reader.view.getUint32(move(reader, 4))),
  0xdc: (reader) => readList(reader, reader.view.getUint16(move(reader, 2))),
  0xdd: (reader) => readList(reader, reader.view.getUint32(move(reader, 4))),
  0xde: (reader) => readObject(reader, reader.view.getUint16(move(reader, 2))),
  0xdf: (reader) => readObject(reader, reader.view.getUint32(move(reader, 4))),
};

/** Moves behind some bytes. Returns where they begin. */
function move(reader: Reader, size: number): number {
  const { at } = reader;
  reader.at += size;
  return at;
}

function readText(reader: Reader, length: number): string {
  const at = move(reader, length);
  const { buffer, byteOffset, byteLength } = reader.view;
  if (reader.at > byteLength) throw new RangeError("a text is cut off");
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(new Uint8Array(buffer, byteOffset + at, length));
}

function readList(reader: Reader, length: number): Data {
  enter(reader, length);
  const list: Data[] = [];
  for (let i = 0; i < length; i++) list.push(read(reader));
  reader.depth--;
  return list;
}

function readObject(reader: Reader, length: number): Data {
  enter(reader, length);
  const entries: (readonly [string, Data])[] = [];
  for (let i = 0; i < length; i++) {
    const name = read(reader);
    if (typeof name !== "string") throw new RangeError("a key is not text");
    entries.push([name, read(reader)]);
  }
  reader.depth--;
  return Object.fromEntries(entries);
}

function enter(reader: Reader, length: number): void {
  if (++reader.depth > MAX_DEPTH) throw new RangeError("lists are nested too deeply");
  // Each value takes at least one byte, so a longer list is cut off.
  if (length > reader.view.byteLength) throw new RangeError("a list is cut off");
}
