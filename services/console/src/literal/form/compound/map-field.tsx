import { Button, IconButton } from "../../../control/button.js";
import { startValue } from "../../convert/start-value.js";
import { isMap, type MapValue } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { useControlProps, useHasUpload, type ValueProps } from "../field-context.js";
import { Note } from "../field-row.js";
import inputStyles from "../input.module.css";
import { ValueField } from "../value-field.js";
import styles from "./compound.module.css";

type Entry = MapValue["entries"][number];

/** Map from texts to values. */
export function MapField({ type, value, path, label, onChange }: ValueProps<Extract<FieldType, { kind: "map" }>>) {
  const hasUpload = useHasUpload(path);
  const entries = isMap(value) ? value.entries : [];
  const change = (next: readonly Entry[]): void => onChange({ entries: next });
  return (
    <div role="group" aria-label={label}>
      {entries.map((entry, index) => (
        <div key={index} className={styles.item}>
          <div className={styles.key}>
            <KeyInput
              path={`${path}.${index}.key`}
              label={`${label}: key ${index}`}
              value={entry.key}
              onChange={(key) => change(entries.with(index, { ...entry, key }))}
            />
            <Note path={`${path}.${index}.key`} />
          </div>
          <div className={styles.value}>
            <ValueField
              type={type.value}
              value={entry.value}
              path={`${path}.${index}`}
              label={`${label} ${entry.key}`}
              onChange={(next) => change(entries.with(index, { ...entry, value: next }))}
            />
            <Note path={`${path}.${index}`} />
          </div>
          <IconButton
            icon="close"
            label={`Remove ${label} ${entry.key}`}
            disabled={hasUpload}
            onClick={() => change(entries.toSpliced(index, 1))}
          />
        </div>
      ))}
      <Button small icon="plus" onClick={() => change([...entries, { key: "", value: startValue(type.value) }])}>
        Add
      </Button>
    </div>
  );
}

interface KeyInputProps {
  readonly path: string;
  readonly label: string;
  readonly value: string;
  onChange(key: string): void;
}

function KeyInput({ path, label, value, onChange }: KeyInputProps) {
  const props = useControlProps(path, label);
  return (
    <input
      {...props}
      className={inputStyles.input}
      placeholder="key"
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  );
}
