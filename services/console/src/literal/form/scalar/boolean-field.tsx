import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import styles from "../input.module.css";

/** Switch of a boolean. */
export function BooleanField({ value, path, label, placeholder, onChange }: ValueProps<FieldType>) {
  const props = useControlProps(path, label);
  return (
    <button
      type="button"
      role="switch"
      {...props}
      aria-checked={value === true}
      className={styles.switch}
      onClick={() => onChange(value !== true)}
    >
      <span className={styles.track} />
      {value === undefined ? (placeholder ?? "no value") : value === true ? "on" : "off"}
    </button>
  );
}
