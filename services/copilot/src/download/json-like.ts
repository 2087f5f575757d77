/** A value as other languages read it. 64-bit integers are exact. */
export type JsonLikeValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | readonly JsonLikeValue[]
  | { readonly [key: string]: JsonLikeValue };

/** Formats JSON with exact integers; NaN and infinities become texts. */
export function jsonText(value: JsonLikeValue): string {
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : JSON.stringify(String(value));
  if (isList(value)) return `[${value.map(jsonText).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value)
      .map(([key, item]) => `${JSON.stringify(key)}:${jsonText(item)}`)
      .join(",")}}`;
  }
  return JSON.stringify(value);
}

function isList(value: JsonLikeValue): value is readonly JsonLikeValue[] {
  return Array.isArray(value);
}
