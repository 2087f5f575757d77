import type { ComponentPropsWithRef, ReactNode } from "react";
import styles from "./button.module.css";
import { classes } from "./classes.js";
import { Icon, type IconName } from "./icon.js";

interface ButtonProps extends Omit<ComponentPropsWithRef<"button">, "className" | "children"> {
  readonly children: ReactNode;
  readonly kind?: "plain" | "primary" | "danger" | "quiet";
  readonly icon?: IconName;
  readonly small?: boolean;
  /** Reason why the act is refused: the button is disabled and says it. */
  readonly refused?: string | undefined;
}

/** Button with a verb. */
export function Button({ children, kind = "plain", icon, small = false, refused, title, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      className={classes(styles.button, styles[kind], small && styles.small)}
      title={refused ?? title}
      aria-disabled={refused !== undefined || undefined}
      {...rest}
      onClick={refused === undefined ? rest.onClick : undefined}
    >
      {icon !== undefined && <Icon name={icon} small />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentPropsWithRef<"button">, "className" | "children"> {
  readonly icon: IconName;
  /** Name of the act, which is also its tooltip. */
  readonly label: string;
}

/** Button that is an icon. */
export function IconButton({ icon, label, ...rest }: IconButtonProps) {
  return (
    <button type="button" className={styles.iconButton} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
