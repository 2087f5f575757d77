/** Value of JSON or msgpack. Whole numbers are `bigint`, so that 1 and 1.0 stay different. */
export type Data = null | boolean | bigint | number | string | readonly Data[] | DataObject;

export interface DataObject {
  readonly [name: string]: Data;
}

export function isDataObject(data: Data | undefined): data is DataObject {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

export function isDataList(data: Data | undefined): data is readonly Data[] {
  return Array.isArray(data);
}

/** Returns a value that `JSON.parse` made as data; its whole numbers become `bigint`. */
export function dataOfJson(value: unknown): Data {
  if (typeof value === "number") return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(dataOfJson);
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, dataOfJson(each)]));
  return typeof value === "string" || typeof value === "boolean" ? value : null;
}
