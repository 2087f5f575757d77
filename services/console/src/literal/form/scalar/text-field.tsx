import { classes } from "../../../control/classes.js";
import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import styles from "../input.module.css";

/** Text, whose field grows with its lines. */
export function TextField({ value, path, label, placeholder, onChange }: ValueProps<FieldType>) {
  const props = useControlProps(path, label);
  const text = typeof value === "string" ? value : "";
  return (
    <textarea
      {...props}
      className={classes(styles.input, styles.area)}
      rows={1}
      autoComplete="off"
      spellCheck={false}
      placeholder={value === "" ? "empty text" : placeholder}
      value={text}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
