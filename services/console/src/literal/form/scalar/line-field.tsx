import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import styles from "../input.module.css";

/** Number or duration in one line. */
export function LineField({ type, value, path, label, placeholder, onChange }: ValueProps<FieldType>) {
  const props = useControlProps(path, label);
  return (
    <input
      {...props}
      className={styles.input}
      inputMode={type.kind === "duration" ? "text" : "decimal"}
      autoComplete="off"
      spellCheck={false}
      placeholder={placeholder ?? (type.kind === "duration" ? "1h 30m" : "")}
      value={typeof value === "string" ? value : ""}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
