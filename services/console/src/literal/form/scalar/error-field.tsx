import { isErrorValue } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import styles from "../input.module.css";

/** Error: its message and the node that failed. */
export function ErrorField({ value, path, label, onChange }: ValueProps<FieldType>) {
  const props = useControlProps(path, `${label}: message`);
  const { message, failedNode } = isErrorValue(value) ? value : { message: "", failedNode: "" };
  return (
    <div className={styles.row}>
      <input
        {...props}
        className={styles.input}
        placeholder="message"
        value={message}
        onChange={({ target }) => onChange({ message: target.value, failedNode })}
      />
      <input
        aria-label={`${label}: failed node`}
        className={styles.input}
        placeholder="failed node"
        value={failedNode}
        onChange={({ target }) => onChange({ message, failedNode: target.value })}
      />
    </div>
  );
}
