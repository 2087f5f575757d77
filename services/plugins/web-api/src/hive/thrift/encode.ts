/** Types of Thrift's binary protocol. */
export const TYPE = {
  STOP: 0,
  BOOL: 2,
  BYTE: 3,
  DOUBLE: 4,
  I16: 6,
  I32: 8,
  I64: 10,
  STRING: 11,
  STRUCT: 12,
  MAP: 13,
  SET: 14,
  LIST: 15,
} as const;

/** An encoded value with its type. */
export interface Encoded {
  readonly type: number;
  readonly bytes: Uint8Array;
}

export function bool(value: boolean): Encoded {
  return { type: TYPE.BOOL, bytes: Uint8Array.of(value ? 1 : 0) };
}

export function i32(value: number): Encoded {
  return { type: TYPE.I32, bytes: int32(value) };
}

export function i64(value: bigint): Encoded {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return { type: TYPE.I64, bytes };
}

export function binary(value: Uint8Array): Encoded {
  return { type: TYPE.STRING, bytes: Buffer.concat([int32(value.length), value]) };
}

export function text(value: string): Encoded {
  return binary(Buffer.from(value));
}

export function textMap(entries: Readonly<Record<string, string>>): Encoded {
  const pairs = Object.entries(entries);
  const head = Buffer.concat([Uint8Array.of(TYPE.STRING, TYPE.STRING), int32(pairs.length)]);
  return { type: TYPE.MAP, bytes: Buffer.concat([head, ...pairs.flatMap((pair) => pair.map((value) => text(value).bytes))]) };
}

/** A struct of fields by their ids; undefined fields are left out. */
export function struct(fields: Readonly<Record<number, Encoded | undefined>>): Encoded {
  const encoded = Object.entries(fields).flatMap(([id, field]) => (field === undefined ? [] : [fieldHead(Number(id), field), field.bytes]));
  return { type: TYPE.STRUCT, bytes: Buffer.concat([...encoded, Uint8Array.of(TYPE.STOP)]) };
}

function fieldHead(id: number, { type }: Encoded): Uint8Array {
  return Uint8Array.of(type, id >> 8, id & 0xff);
}

export function int32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
