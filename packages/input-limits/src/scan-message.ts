import type { DescMessage } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";
import type { Limits, Measurement, Violation } from "./limits.js";
import { type FieldEntry, messageTable, type MessageTable } from "./message-table.js";

/**
 * Checks an encoded message against limits without building it.
 *
 * It rejects more than a decoder does: a known field with another wire type, a length that passes
 * the end of the surrounding message, and groups. A decoder that reads such bytes differently could
 * otherwise be given more elements than were counted.
 */
export function scanMessage(desc: DescMessage, bytes: Uint8Array, limits: Limits): Violation | undefined {
  return measureMessage(desc, bytes, limits).violation;
}

/** Counts the elements of an encoded message; stops at the first violation of the limits. */
export function measureMessage(desc: DescMessage, bytes: Uint8Array, limits: Limits): Measurement {
  if (bytes.length > limits.bytes) return { elements: 0, depth: 0, violation: { kind: "bytes", limit: limits.bytes } };
  const scan = new Scan(bytes, messageTable(desc), limits);
  const violation = scan.run();
  return { elements: scan.elements, depth: scan.depth, violation };
}

const CONTINUATION_BIT = 0x80;
const MAX_VARINT_BYTES = 10;

class Malformed extends Error {}

/**
 * Largest second byte with which a field of this tag ends after two bytes; -1 when the field has to
 * be read in full.
 */
function maxShortValue(tag: number, entry: FieldEntry | undefined): number {
  const wireType: WireType = tag & 7;
  if (tag < 8 || tag >= CONTINUATION_BIT || (entry !== undefined && entry.wireType !== wireType)) return -1;
  if (wireType === WireType.Varint) return CONTINUATION_BIT - 1;
  return wireType === WireType.LengthDelimited ? 0 : -1;
}

class Scan {
  elements = 0;
  depth = 1;
  readonly #bytes: Uint8Array;
  readonly #limits: Limits;
  readonly #outerEnds: number[] = [];
  readonly #outerTables: (MessageTable | undefined)[] = [];
  #at = 0;
  #end: number;
  #table: MessageTable | undefined;

  constructor(bytes: Uint8Array, table: MessageTable, limits: Limits) {
    this.#bytes = bytes;
    this.#end = bytes.length;
    this.#table = table;
    this.#limits = limits;
  }

  run(): Violation | undefined {
    const { elements, depth } = this.#limits;
    if (depth < 1) return { kind: "depth", limit: depth };
    try {
      for (;;) {
        this.#skipShortFields(elements);
        while (this.#at === this.#end) if (!this.#leave()) return undefined;
        this.#field();
        if (this.elements > elements) return { kind: "elements", limit: elements };
        if (this.depth > depth) return { kind: "depth", limit: depth };
      }
    } catch (error) {
      if (error instanceof Malformed) return { kind: "malformed", at: this.#at };
      throw error;
    }
  }

  /**
   * Counts fields of two bytes: small numbers and empty values. Messages of many elements consist
   * of them, and this loop of local variables takes a third of the time of a call per field.
   */
  #skipShortFields(maxElements: number): void {
    const bytes = this.#bytes;
    const table = this.#table;
    const from = this.#at;
    const end = Math.min(this.#end - 1, from + 2 * (maxElements - this.elements));
    let at = from;
    let known = -1;
    let maxValue = 0;
    for (; at < end; at += 2) {
      const tag = bytes[at] as number;
      if (tag !== known) {
        known = tag;
        maxValue = maxShortValue(tag, table?.[tag >>> 3]);
      }
      if ((bytes[at + 1] as number) > maxValue) break;
    }
    this.#at = at;
    this.elements += (at - from) / 2;
  }

  #field(): void {
    this.elements++;
    const tag = this.#varint();
    const number = tag >>> 3;
    const wireType: WireType = tag & 7;
    if (number === 0) throw new Malformed();
    const entry = this.#table?.[number];
    if (entry !== undefined && entry.wireType !== wireType) this.#packed(entry, wireType);
    else if (entry?.child !== undefined) this.#enter(entry.child, this.#varint());
    else this.#skip(wireType);
  }

  #skip(wireType: WireType): void {
    switch (wireType) {
      case WireType.Varint:
        this.#varint();
        return;
      case WireType.Bit64:
        this.#advance(8);
        return;
      case WireType.Bit32:
        this.#advance(4);
        return;
      case WireType.LengthDelimited:
        this.#advance(this.#varint());
        return;
      default:
        throw new Malformed();
    }
  }

  #packed({ packable, wireType }: FieldEntry, found: WireType): void {
    if (!packable || found !== WireType.LengthDelimited) throw new Malformed();
    const length = this.#varint();
    const from = this.#at;
    this.#advance(length);
    if (wireType === WireType.Varint) this.elements += this.#countVarints(from);
    else {
      const size = wireType === WireType.Bit64 ? 8 : 4;
      if (length % size !== 0) throw new Malformed();
      this.elements += length / size;
    }
  }

  /** Counts the varints from a position to the current one; stops once there are too many. */
  #countVarints(from: number): number {
    const max = this.#limits.elements;
    let count = 0;
    for (let at = from; at < this.#at && count <= max; at++) if ((this.#bytes[at] as number) < CONTINUATION_BIT) count++;
    if (this.#at > from && (this.#bytes[this.#at - 1] as number) >= CONTINUATION_BIT) throw new Malformed();
    return count;
  }

  #enter(table: MessageTable, length: number): void {
    const from = this.#at;
    this.#advance(length);
    if (length === 0) return;
    this.#outerEnds.push(this.#end);
    this.#outerTables.push(this.#table);
    if (this.#outerEnds.length >= this.depth) this.depth = this.#outerEnds.length + 1;
    this.#end = this.#at;
    this.#table = table;
    this.#at = from;
  }

  #leave(): boolean {
    const end = this.#outerEnds.pop();
    if (end === undefined) return false;
    this.#end = end;
    this.#table = this.#outerTables.pop();
    return true;
  }

  /** Reads a varint, its low 32 bits, as decoders of tags and lengths do. */
  #varint(): number {
    if (this.#at < this.#end) {
      const first = this.#bytes[this.#at] as number;
      if (first < CONTINUATION_BIT) {
        this.#at++;
        return first;
      }
    }
    return this.#longVarint();
  }

  #longVarint(): number {
    let value = 0;
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      if (this.#at >= this.#end) throw new Malformed();
      const byte = this.#bytes[this.#at++] as number;
      if (index < 5) value |= (byte & 0x7f) << (7 * index);
      if (byte < CONTINUATION_BIT) return value >>> 0;
    }
    throw new Malformed();
  }

  #advance(length: number): void {
    if (length > this.#end - this.#at) throw new Malformed();
    this.#at += length;
  }
}
