import { useState } from "react";
import { Button, IconButton } from "../../../control/button.js";
import { startValue } from "../../convert/start-value.js";
import { type FormValue, isList } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import { useHasUpload, type ValueProps } from "../field-context.js";
import { Note } from "../field-row.js";
import { ValueField } from "../value-field.js";
import styles from "./compound.module.css";
import { PasteBox } from "./paste-box.js";

/** List whose items are added, removed, moved and pasted. */
export function ListField({ type, value, path, label, base, onChange }: ValueProps<Extract<FieldType, { kind: "list" }>>) {
  const [isPasting, setPasting] = useState(false);
  const hasUpload = useHasUpload(path);
  const items = isList(value) ? value.items : [];
  const change = (next: readonly FormValue[]): void => onChange({ items: next });
  const moveUp = (index: number): void => {
    const [above, item] = [items[index - 1], items[index]];
    if (above !== undefined && item !== undefined) change(items.with(index - 1, item).with(index, above));
  };
  return (
    <div role="group" aria-label={label}>
      {items.map((item, index) => (
        <div key={index} className={styles.item}>
          <span className={styles.index}>{index}</span>
          <div className={styles.value}>
            <ValueField
              type={type.item}
              value={item}
              path={`${path}.${index}`}
              label={`${label} ${index}`}
              base={isList(base) ? base.items[index] : undefined}
              onChange={(next) => change(items.with(index, next))}
            />
            <Note path={`${path}.${index}`} />
          </div>
          {index > 0 && <IconButton icon="up" label={`Move ${label} ${index} up`} disabled={hasUpload} onClick={() => moveUp(index)} />}
          <IconButton
            icon="close"
            label={`Remove ${label} ${index}`}
            disabled={hasUpload}
            onClick={() => change(items.toSpliced(index, 1))}
          />
        </div>
      ))}
      <div className={styles.buttons}>
        <Button small icon="plus" onClick={() => change([...items, startValue(type.item)])}>
          Add
        </Button>
        <Button small kind="quiet" aria-expanded={isPasting} disabled={hasUpload} onClick={() => setPasting(!isPasting)}>
          Paste a list
        </Button>
      </div>
      {isPasting && (
        <PasteBox
          type={type.item}
          label={label}
          onPaste={(pasted) => {
            change(pasted);
            setPasting(false);
          }}
        />
      )}
    </div>
  );
}
