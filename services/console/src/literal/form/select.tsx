import type { ComponentPropsWithRef } from "react";
import { classes } from "../../control/classes.js";
import { Icon } from "../../control/icon.js";
import styles from "./input.module.css";

interface SelectProps extends Omit<ComponentPropsWithRef<"select">, "className"> {
  /** Takes the width of a zone beside another control. */
  readonly narrow?: boolean;
}

/** One of several texts. */
export function Select({ narrow = false, children, ...rest }: SelectProps) {
  return (
    <span className={classes(styles.select, narrow && styles.zone)}>
      <select {...rest} className={styles.input}>
        {children}
      </select>
      <Icon name="chevronDown" small />
    </span>
  );
}
