/**
 * A value as msgpack carries it: a `number` is a float, a `bigint` an integer. flytekit and
 * propeller distinguish the two.
 */
export type PlainValue = null | boolean | number | bigint | string | Uint8Array | readonly PlainValue[] | PlainObject;

export interface PlainObject {
  readonly [key: string]: PlainValue;
}

export function isPlainObject(value: PlainValue): value is PlainObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}
