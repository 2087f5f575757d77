import { useContext } from "react";
import { classes } from "../../../control/classes.js";
import { Segments } from "../../../control/segments.js";
import { startValue } from "../../convert/start-value.js";
import { isUnion } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { FieldContext, type ValueProps } from "../field-context.js";
import { ValueField } from "../value-field.js";
import styles from "./compound.module.css";

const BELOW = ["object", "list", "map", "json", "struct", "union", "raw"];

/** A segment for each variant of a union, and the control of the chosen one. */
export function UnionField({ type, value, path, label, base, onChange }: ValueProps<Extract<FieldType, { kind: "union" }>>) {
  const { zone } = useContext(FieldContext);
  const chosen = isUnion(value) ? value.variant : undefined;
  const variant = chosen === undefined ? undefined : type.variants[chosen];
  const choose = (next: number): void => {
    const nextType = type.variants[next]?.type;
    if (nextType !== undefined && next !== chosen) onChange({ variant: next, value: startValue(nextType, zone) });
  };
  return (
    <div className={styles.union} role="group" aria-label={label}>
      <div className={styles.variants}>
        <Segments
          label={`Type of ${label}`}
          choices={type.variants.map(({ name }, index) => ({ id: String(index), title: name }))}
          current={chosen === undefined ? undefined : String(chosen)}
          onChoose={(id) => choose(Number(id))}
        />
      </div>
      {variant !== undefined && variant.type.kind !== "none" && isUnion(value) && (
        <div className={classes(styles.value, BELOW.includes(variant.type.kind) && styles.stacked)}>
          <ValueField
            type={variant.type}
            value={value.value}
            path={path}
            label={label}
            base={isUnion(base) && base.variant === chosen ? base.value : undefined}
            onChange={(next) => onChange({ variant: value.variant, value: next })}
          />
        </div>
      )}
    </div>
  );
}
