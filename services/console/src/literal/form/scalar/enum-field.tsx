import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import { Select } from "../select.js";

/** One of the values of an enum. */
export function EnumField({
  type,
  value,
  path,
  label,
  placeholder = "choose one",
  onChange,
}: ValueProps<Extract<FieldType, { kind: "enum" }>>) {
  const props = useControlProps(path, label);
  const isKnown = type.values.some(({ text }) => text === value);
  return (
    <Select {...props} value={typeof value === "string" ? value : ""} onChange={({ target }) => onChange(target.value)}>
      {!isKnown && (
        <option value={typeof value === "string" ? value : ""}>{typeof value === "string" && value !== "" ? value : placeholder}</option>
      )}
      {type.values.map(({ text }) => (
        <option key={text} value={text}>
          {text}
        </option>
      ))}
    </Select>
  );
}
