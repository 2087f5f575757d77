import { useState } from "react";
import { Button } from "../../../control/button.js";
import { classes } from "../../../control/classes.js";
import { readItems } from "../../convert/read-items.js";
import type { FormValue } from "../../form-value.js";
import type { FieldType } from "../../type/field-type.js";
import inputStyles from "../input.module.css";
import styles from "./compound.module.css";

interface PasteBoxProps {
  readonly type: FieldType;
  readonly label: string;
  onPaste(items: readonly FormValue[]): void;
}

/** Takes a whole list as text. */
export function PasteBox({ type, label, onPaste }: PasteBoxProps) {
  const [text, setText] = useState("");
  const items = readItems(type, text);
  return (
    <div className={styles.paste}>
      <p>Lines, values with commas between them, or a list in JSON.</p>
      <textarea
        className={classes(inputStyles.input, inputStyles.area, inputStyles.tall)}
        aria-label={`Items of ${label}`}
        autoFocus
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      <div>
        <Button small refused={text.trim() === "" ? "Paste a list first" : undefined} onClick={() => onPaste(items)}>
          {`Replace with ${items.length} ${items.length === 1 ? "item" : "items"}`}
        </Button>
      </div>
    </div>
  );
}
