import { Button } from "../../../control/button.js";
import { classes } from "../../../control/classes.js";
import type { FormValue } from "../../form-value.js";
import type { FieldType, ObjectType } from "../../type/field-type.js";
import { typeName } from "../../type/type-name.js";
import { isChanged } from "../field-context.js";
import { FieldRow } from "../field-row.js";
import { ValueField } from "../value-field.js";
import styles from "./compound.module.css";

interface ObjectFieldsProps {
  readonly type: ObjectType;
  readonly values: Readonly<Record<string, FormValue>>;
  readonly base: Readonly<Record<string, FormValue>> | undefined;
  readonly path: string;
  onChange(values: Readonly<Record<string, FormValue>>): void;
}

/** Fields of an object in two columns; large ones take both. */
export function ObjectFields({ type, values, base, path, onChange }: ObjectFieldsProps) {
  return (
    <div className={styles.grid}>
      {type.fields().map(({ name, type: field, required, fallback, description }) => {
        const value = values[name];
        const changed = base !== undefined && isChanged(value, base[name]);
        const leaveOut = (): void => {
          const { [name]: _, ...rest } = values;
          onChange(rest);
        };
        return (
          <div key={name} className={classes(isWide(field) && styles.wide)}>
            <FieldRow
              name={name}
              type={typeName(field)}
              path={`${path}.${name}`}
              isChanged={changed}
              hint={description === "" ? boundsText(field) : description}
              end={
                value === undefined ? (
                  !required && "left out"
                ) : !required && fallback === undefined ? (
                  <Button small kind="quiet" onClick={leaveOut}>
                    Leave out
                  </Button>
                ) : (
                  changed && <WasText base={base[name]} />
                )
              }
            >
              <ValueField
                type={field}
                value={value}
                path={`${path}.${name}`}
                label={`${path}.${name}`}
                base={base?.[name]}
                onChange={(next) => onChange({ ...values, [name]: next })}
              />
            </FieldRow>
          </div>
        );
      })}
    </div>
  );
}

/** Value that a changed one had, where it is a short text. */
export function WasText({ base }: { readonly base: FormValue | undefined }) {
  if (typeof base === "string" && base.length <= MAX_WAS) return <span>{`was ${base === "" ? "empty" : base}`}</span>;
  if (typeof base === "boolean") return <span>{`was ${base ? "on" : "off"}`}</span>;
  return <span>changed</span>;
}

const MAX_WAS = 24;

function isWide(type: FieldType): boolean {
  return ["object", "list", "map", "union", "json", "struct", "raw", "datetime", "blob"].includes(type.kind);
}

/** Bounds of a number: `1 to 32`. */
function boundsText(type: FieldType): string {
  if (type.kind !== "integer" && type.kind !== "float") return "";
  const { minimum, maximum } = type;
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  return minimum !== undefined ? `${minimum} or more` : maximum !== undefined ? `${maximum} or less` : "";
}
