/** Object of a message, or what initializes it. */
export type Fields = Record<string, unknown>;

/** Sets an entry of a map, whose key may be `__proto__`. */
export function setOwn(entries: Fields, key: string, value: unknown): void {
  if (key === "__proto__") Object.defineProperty(entries, key, { value, enumerable: true, configurable: true, writable: true });
  else entries[key] = value;
}

/** True for an object that is no list. */
export const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
