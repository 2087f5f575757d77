import { classes } from "../../../control/classes.js";
import { isJson } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import styles from "../input.module.css";

/** Object or other value as JSON. */
export function JsonField({ type, value, path, label, placeholder, onChange }: ValueProps<FieldType>) {
  const props = useControlProps(path, `${label} as JSON`);
  const isPlain = type.kind === "json" || type.kind === "struct";
  const text = isJson(value) ? value.json : typeof value === "string" ? value : "";
  return (
    <textarea
      {...props}
      className={classes(styles.input, styles.area)}
      rows={Math.min(12, text.split("\n").length)}
      autoComplete="off"
      spellCheck={false}
      placeholder={placeholder ?? '{"name": 1}'}
      value={text}
      onChange={({ target }) => onChange(isPlain ? target.value : { json: target.value })}
    />
  );
}
