import { type FieldLayout, MESSAGE, type MessageLayout } from "./layout.js";
import { type Fields, setOwn } from "./message-fields.js";

/** Wrappers of scalars, such as BoolValue, whose fields hold the bare value. */
const WRAPPER = /^google\.protobuf\.(?:Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/;

/** Returns how the object of a message holds the value of a field that is no plain message. */
export function formOf(field: FieldLayout, layout: MessageLayout): "json" | "wrapper" | undefined {
  if (layout.typeName === "google.protobuf.Struct" && field.parent !== "google.protobuf.Value") return "json";
  return field.form === "single" && field.type === MESSAGE && field.oneof === undefined && WRAPPER.test(layout.typeName)
    ? "wrapper"
    : undefined;
}

/** Makes a Struct of a JSON object. */
export function structOf(json: Fields): Fields {
  const fields: Fields = {};
  for (const [key, value] of Object.entries(json)) setOwn(fields, key, { $typeName: "google.protobuf.Value", kind: kindOf(value) });
  return { $typeName: "google.protobuf.Struct", fields };
}

function kindOf(json: unknown): Fields {
  switch (typeof json) {
    case "number":
      return { case: "numberValue", value: json };
    case "string":
      return { case: "stringValue", value: json };
    case "boolean":
      return { case: "boolValue", value: json };
    case "object": {
      if (json === null) return { case: "nullValue", value: 0 };
      if (!Array.isArray(json)) return { case: "structValue", value: structOf(json as Fields) };
      const values = json.map((item) => ({ $typeName: "google.protobuf.Value", kind: kindOf(item) }));
      return { case: "listValue", value: { $typeName: "google.protobuf.ListValue", values } };
    }
    default:
      return { case: undefined };
  }
}

/** Makes a JSON object of a Struct. */
export function jsonOf(struct: Fields): Fields {
  const json: Fields = {};
  for (const [key, value] of Object.entries(struct["fields"] as Record<string, Fields>)) setOwn(json, key, valueOf(value));
  return json;
}

function valueOf({ kind }: Fields): unknown {
  const { case: name, value } = kind as Fields;
  if (name === "structValue") return jsonOf(value as Fields);
  if (name === "listValue") return ((value as Fields)["values"] as Fields[]).map(valueOf);
  return name === "nullValue" || name === undefined ? null : value;
}
