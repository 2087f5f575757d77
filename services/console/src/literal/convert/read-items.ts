import { type Data, isDataList } from "../data/data.js";
import { formatData, parseData } from "../data/json-text.js";
import type { FormValue } from "../form-value.js";
import { formatFloat } from "../scalar/number.js";
import type { FieldType } from "../type/field-type.js";
import { fromData } from "./from-data.js";
import { startValue } from "./start-value.js";

/** Reads the items of a list from a pasted text: JSON, lines, or values with commas. */
export function readItems(type: FieldType, text: string): readonly FormValue[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  const list = jsonList(trimmed);
  if (list !== undefined) return list.map((data) => itemOf(type, data));
  const lines = trimmed.split(/\r?\n/);
  const parts = lines.length > 1 ? lines : trimmed.split(",");
  return parts.map((part) => itemOf(type, unquote(part.trim().replace(/,$/, ""))));
}

function jsonList(text: string): readonly Data[] | undefined {
  if (!text.startsWith("[")) return undefined;
  try {
    const data = parseData(text);
    return isDataList(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

const unquote = (text: string): string => /^"(.*)"$/.exec(text)?.[1]?.replaceAll('""', '"') ?? text;

/** Returns an item as a form holds it; a text that does not fit keeps its field and problem. */
function itemOf(type: FieldType, data: Data): FormValue {
  const start = startValue(type);
  switch (type.kind) {
    case "integer":
    case "float":
    case "duration":
    case "string":
    case "enum":
      return textOf(data);
    case "boolean":
      return data === true || /^(true|yes|on|1)$/i.test(textOf(data));
    case "datetime":
      return { at: textOf(data), zone: "UTC" };
    case "blob":
    case "dataset":
    case "schema":
      return { address: textOf(data), format: type.kind === "schema" ? "" : type.format };
    default:
      return fromData(type, data) ?? start;
  }
}

const textOf = (data: Data): string => (typeof data === "string" ? data : typeof data === "number" ? formatFloat(data) : formatData(data));
