import { classes } from "../../../control/classes.js";
import { isRaw } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import styles from "../input.module.css";

/** Literal in the JSON form of the API. */
export function RawField({ value, path, label, onChange }: ValueProps<FieldType>) {
  const props = useControlProps(path, `${label} as the JSON of its literal`);
  return (
    <textarea
      {...props}
      className={classes(styles.input, styles.area, styles.tall)}
      autoComplete="off"
      spellCheck={false}
      placeholder='{"scalar": {"primitive": {"integer": "1"}}}'
      value={isRaw(value) ? value.raw : ""}
      onChange={({ target }) => onChange({ raw: target.value })}
    />
  );
}
