import type { ComponentPropsWithRef, ReactNode } from "react";
import { classes } from "./classes.js";
import styles from "./field.module.css";
import { Icon } from "./icon.js";

interface SearchInputProps extends Omit<ComponentPropsWithRef<"input">, "className" | "type"> {
  readonly label: string;
  /** Content at the end of the field, such as its key. */
  readonly end?: ReactNode;
  readonly wide?: boolean;
}

/** Field for a part of a name. */
export function SearchInput({ label, end, wide = false, ...rest }: SearchInputProps) {
  return (
    <label className={classes(styles.search, wide && styles.wide)}>
      <Icon name="search" small />
      <input
        type="search"
        aria-label={label}
        placeholder={label}
        className={styles.input}
        autoComplete="off"
        spellCheck={false}
        {...rest}
      />
      {end}
    </label>
  );
}
