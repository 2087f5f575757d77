import type { Data } from "../data/data.js";
import { formatDataLines } from "../data/json-text.js";
import { type FormValue, isObject } from "../form-value.js";
import type { ObjectType } from "../type/field-type.js";
import { toData } from "./to-data.js";

/** Writes the fields of an object as JSON; those that break a rule are left out. */
export function objectText(type: ObjectType, value: FormValue | undefined): string {
  const values = isObject(value) ? value.fields : {};
  const entries = type.fields().flatMap(({ name, type: field }) => {
    const data = values[name] === undefined ? undefined : toData(field, values[name], name, []);
    return data === undefined ? [] : [[name, data] as const];
  });
  return formatDataLines(Object.fromEntries<Data>(entries));
}
