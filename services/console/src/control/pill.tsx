import type { ReactNode } from "react";
import type { PhaseKind } from "../format/phase.js";
import { classes } from "./classes.js";
import styles from "./pill.module.css";

/** Short fact beside a title. */
export function Pill({ children, kind }: { readonly children: ReactNode; readonly kind?: PhaseKind }) {
  return <span className={classes(styles.pill, kind !== undefined && styles[kind])}>{children}</span>;
}

/** Name, version or value as code. */
export function Code({ children, dim = false }: { readonly children: ReactNode; readonly dim?: boolean }) {
  return <span className={classes(styles.code, dim && styles.dim)}>{children}</span>;
}

/** Key of the keyboard. */
export function Key({ children }: { readonly children: ReactNode }) {
  return <kbd className={styles.key}>{children}</kbd>;
}
