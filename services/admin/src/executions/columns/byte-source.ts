/** Reader of the varints and bytes that {@link ByteSink} writes. */
export class ByteSource {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  /** Position after what has been read. */
  get at(): number {
    return this.#at;
  }

  /** @throws RangeError after the last byte. */
  varint(): number {
    let [value, factor] = [0, 1];
    for (;;) {
      const byte = this.bytes[this.#at++];
      if (byte === undefined) throw new RangeError("columns end within a value");
      value += (byte & 127) * factor;
      if (byte < 128) break;
      factor *= 128;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

/** Reads a varint per row. */
export function readVarints(bytes: Uint8Array, count: number): Float64Array {
  const source = new ByteSource(bytes);
  const values = new Float64Array(count);
  for (let row = 0; row < count; row++) values[row] = source.varint();
  return values;
}

/** Reads a varint per row, each the difference to the row before. */
export function readDeltas(bytes: Uint8Array, count: number): Float64Array {
  const values = readVarints(bytes, count);
  for (let row = 1; row < count; row++) values[row] = (values[row] ?? 0) + (values[row - 1] ?? 0);
  return values;
}
