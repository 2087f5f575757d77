/** Estimates the bytes of a value as JSON without serializing it; plain data only. */
export function jsonSize(value: unknown): number {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "number":
      return 8;
    case "boolean":
      return 5;
    case "object": {
      if (value === null) return 4;
      let size = 2;
      for (const key in value) {
        const field = (value as Readonly<Record<string, unknown>>)[key];
        if (field !== undefined) size += fieldBytes(key, jsonSize(field));
      }
      return size;
    }
    default:
      return 0;
  }
}

/** Estimates the bytes of an object's field whose value has `valueBytes`. */
export function fieldBytes(key: string, valueBytes: number): number {
  return key.length + 4 + valueBytes;
}
