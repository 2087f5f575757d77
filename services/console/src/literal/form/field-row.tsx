import { type ReactNode, useContext } from "react";
import { classes } from "../../control/classes.js";
import { FieldContext } from "./field-context.js";
import styles from "./field-row.module.css";

interface FieldRowProps {
  readonly name: string;
  /** Type in the words of forms. */
  readonly type?: string;
  readonly path: string;
  /** Content at the end of the label. */
  readonly end?: ReactNode;
  /** Note below the control, which a broken rule replaces. */
  readonly hint?: ReactNode;
  readonly isChanged?: boolean;
  readonly children: ReactNode;
}

/** A control with its name and type above, and its rule or note below. */
export function FieldRow({ name, type = "", path, end, hint, isChanged = false, children }: FieldRowProps) {
  return (
    <div className={classes(styles.field, isChanged && styles.changed)} data-field={path}>
      <div className={styles.label}>
        <span className={styles.name}>{name}</span>
        {type !== "" && <span className={styles.type}>{type}</span>}
        <span className={styles.end}>{end}</span>
      </div>
      {children}
      <Note path={path} hint={hint} />
    </div>
  );
}

/** Broken rule of a path, or else a note. */
export function Note({ path, hint }: { readonly path: string; readonly hint?: ReactNode }) {
  const problem = useContext(FieldContext).problems.get(path);
  if (problem !== undefined)
    return (
      <p id={`problem-${path}`} className={styles.problem}>
        {problem}
      </p>
    );
  return hint === undefined || hint === "" || hint === false ? null : <p className={styles.hint}>{hint}</p>;
}
