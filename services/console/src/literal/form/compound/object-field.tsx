import { classes } from "../../../control/classes.js";
import { Segments } from "../../../control/segments.js";
import { fromData } from "../../convert/from-data.js";
import { startValue } from "../../convert/start-value.js";
import { objectText } from "../../convert/object-text.js";
import { parseData } from "../../data/json-text.js";
import { type FormValue, isJson, isObject } from "../../form-value.js";
import type { ObjectType } from "../../type/field-type.js";
import type { ValueProps } from "../field-context.js";
import { JsonField } from "../scalar/json-field.js";
import styles from "./compound.module.css";
import { ObjectFields } from "./object-fields.js";

const MODES = [
  { id: "form", title: "Form" },
  { id: "json", title: "JSON" },
] as const;

/** Dataclass or Pydantic model: its fields, or all of it as JSON. */
export function ObjectField(props: ValueProps<ObjectType>) {
  const { type, value, path, label, base, onChange } = props;
  const mode = isJson(value) ? "json" : "form";
  const change = (next: (typeof MODES)[number]["id"]): void => {
    if (next === mode) return;
    if (next === "json") onChange({ json: objectText(type, value) });
    else if (isJson(value)) onChange(readFields(type, value.json) ?? value);
  };
  return (
    <div role="group" aria-label={label}>
      <div className={styles.modes}>
        <Segments label={`${label} as`} choices={MODES} current={mode} onChoose={change} />
      </div>
      {isJson(value) ? (
        <JsonField {...props} />
      ) : (
        <div className={classes(styles.object)}>
          <ObjectFields
            type={type}
            values={isObject(value) ? value.fields : {}}
            base={isObject(base) ? base.fields : undefined}
            path={path}
            onChange={(fields) => onChange({ fields })}
          />
        </div>
      )}
    </div>
  );
}

/** Reads JSON into fields; undefined where it does not fit them. */
function readFields(type: ObjectType, text: string): FormValue | undefined {
  if (text.trim() === "") return startValue(type);
  try {
    return fromData(type, parseData(text));
  } catch {
    return undefined;
  }
}
