import { type KeyboardEvent, useState } from "react";
import { Icon } from "./icon.js";
import styles from "./chip.module.css";

interface ChipProps {
  readonly name: string;
  readonly value: string;
  onRemove(): void;
}

/** Filter that is set. */
export function Chip({ name, value, onRemove }: ChipProps) {
  return (
    <span className={styles.chip}>
      <span className={styles.name}>{name}</span> <b className={styles.value}>{value}</b>
      <button type="button" className={styles.remove} aria-label={`Remove the filter ${name}`} onClick={onRemove}>
        <Icon name="close" small />
      </button>
    </span>
  );
}

interface ChipInputProps {
  readonly name: string;
  readonly hint: string;
  onEnter(value: string): void;
  onCancel(): void;
}

/** Filter whose value is being entered. */
export function ChipInput({ name, hint, onEnter, onCancel }: ChipInputProps) {
  const [value, setValue] = useState("");
  const leave = (): void => (value.trim() === "" ? onCancel() : onEnter(value.trim()));
  const pressed = ({ key }: KeyboardEvent): void => {
    if (key === "Enter") leave();
    if (key === "Escape") onCancel();
  };
  return (
    <label className={styles.chip}>
      <span className={styles.name}>{name}</span>
      <input
        className={styles.input}
        autoFocus
        value={value}
        placeholder={hint}
        spellCheck={false}
        onChange={({ target }) => setValue(target.value)}
        onKeyDown={pressed}
        onBlur={leave}
      />
    </label>
  );
}
