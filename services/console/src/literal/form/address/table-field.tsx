import { isAddress } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { useControlProps, type ValueProps } from "../field-context.js";
import rowStyles from "../field-row.module.css";
import styles from "../input.module.css";

/** Table elsewhere: its address and format, and the columns that its type has. */
export function TableField({
  type,
  value,
  path,
  label,
  placeholder,
  onChange,
}: ValueProps<Extract<FieldType, { kind: "dataset" | "schema" }>>) {
  const props = useControlProps(path, label);
  const given = isAddress(value) ? value : { address: "", format: type.kind === "dataset" ? type.format : "" };
  const columns = (type.type.columns ?? []).map(({ name = "" }) => name);
  return (
    <>
      <div className={styles.row}>
        <input
          {...props}
          className={styles.input}
          autoComplete="off"
          spellCheck={false}
          placeholder={placeholder ?? "s3://bucket/table"}
          value={given.address}
          onChange={({ target }) => onChange({ ...given, address: target.value })}
        />
        {type.kind === "dataset" && (
          <input
            aria-label={`${label}: format`}
            className={`${styles.input} ${styles.zone}`}
            placeholder="format: parquet"
            spellCheck={false}
            value={given.format}
            onChange={({ target }) => onChange({ ...given, format: target.value })}
          />
        )}
      </div>
      {columns.length > 0 && <p className={rowStyles.hint}>Columns: {columns.join(", ")}</p>}
    </>
  );
}
