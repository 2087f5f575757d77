import type { ReactNode } from "react";
import type { PhaseKind } from "../format/phase.js";
import { classes } from "./classes.js";
import styles from "./pill.module.css";

/** Short fact beside a title. */
export function Pill({ children, kind }: { readonly children: ReactNode; readonly kind?: PhaseKind }) {
  // A fact that waits looks like one without a phase.
  return (
    <span className={styles.pill} data-phase={kind === "wait" ? undefined : kind}>
      {children}
    </span>
  );
}

/** Name, version or value as code. */
export function Code({ children, dim = false }: { readonly children: ReactNode; readonly dim?: boolean }) {
  return <span className={classes(styles.code, dim && styles.dim)}>{children}</span>;
}

/** Key of the keyboard. */
export function Key({ children }: { readonly children: ReactNode }) {
  return <kbd className={styles.key}>{children}</kbd>;
}
