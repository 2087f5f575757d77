import { TYPE } from "./encode.js";

/** Fields of a struct by their ids. */
export type ThriftStruct = ReadonlyMap<number, ThriftValue>;

/** A value of Thrift's binary protocol. Texts are binary, lists and sets arrays, maps pairs. */
export type ThriftValue = boolean | number | bigint | Buffer | ThriftStruct | readonly ThriftValue[];

/** Bytes are not a value of Thrift's binary protocol. */
export class ThriftFormatError extends Error {
  override readonly name = "ThriftFormatError";
}

/** Maximum depth of structs, lists and maps in each other. */
const MAX_DEPTH = 32;

/** Reads values of Thrift's binary protocol. @throws ThriftFormatError for malformed bytes. */
export class ThriftReader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  int32(): number {
    return this.#take(4).readInt32BE();
  }

  binary(): Buffer {
    return this.#take(this.int32());
  }

  struct(depth = 0): ThriftStruct {
    if (depth > MAX_DEPTH) throw new ThriftFormatError(`values are nested more than ${MAX_DEPTH} deep`);
    const fields = new Map<number, ThriftValue>();
    for (let type = this.#byte(); type !== TYPE.STOP; type = this.#byte())
      fields.set(this.#take(2).readInt16BE(), this.#value(type, depth));
    return fields;
  }

  #value(type: number, depth: number): ThriftValue {
    switch (type) {
      case TYPE.BOOL:
        return this.#byte() !== 0;
      case TYPE.BYTE:
        return this.#take(1).readInt8();
      case TYPE.DOUBLE:
        return this.#take(8).readDoubleBE();
      case TYPE.I16:
        return this.#take(2).readInt16BE();
      case TYPE.I32:
        return this.int32();
      case TYPE.I64:
        return this.#take(8).readBigInt64BE();
      case TYPE.STRING:
        return this.binary();
      case TYPE.STRUCT:
        return this.struct(depth + 1);
      case TYPE.MAP:
        return this.#elements([this.#byte(), this.#byte()], depth + 1);
      case TYPE.SET:
      case TYPE.LIST:
        return this.#elements([this.#byte()], depth + 1);
      default:
        throw new ThriftFormatError(`unknown type ${type}`);
    }
  }

  /** Elements one after the other; those of a map are keys and values in turn. */
  #elements(types: readonly number[], depth: number): readonly ThriftValue[] {
    const count = this.int32();
    // Each element has at least a byte, so that a wrong count ends at the end of the bytes.
    if (depth > MAX_DEPTH || count < 0 || count > this.bytes.length - this.#at)
      throw new ThriftFormatError(`${count} elements at depth ${depth} do not fit`);
    return Array.from({ length: count }, () => types.map((type) => this.#value(type, depth))).flat();
  }

  #byte(): number {
    return this.#take(1).readUInt8();
  }

  #take(length: number): Buffer {
    const end = this.#at + length;
    if (length < 0 || end > this.bytes.length) throw new ThriftFormatError(`the message ends after ${this.bytes.length} bytes`);
    const taken = this.bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }
}

export function structAt(struct: ThriftStruct | undefined, id: number): ThriftStruct | undefined {
  const value = struct?.get(id);
  return value instanceof Map ? value : undefined;
}

export function bytesAt(struct: ThriftStruct | undefined, id: number): Buffer | undefined {
  const value = struct?.get(id);
  return Buffer.isBuffer(value) ? value : undefined;
}

export function textAt(struct: ThriftStruct | undefined, id: number): string | undefined {
  return bytesAt(struct, id)?.toString();
}

export function numberAt(struct: ThriftStruct | undefined, id: number): number | undefined {
  const value = struct?.get(id);
  return typeof value === "number" ? value : undefined;
}
