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
        if (field !== undefined) size += key.length + 4 + jsonSize(field);
      }
      return size;
    }
    default:
      return 0;
  }
}
