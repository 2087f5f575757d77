import { type FormEvent, useState } from "react";
import { Button } from "./button.js";
import styles from "./form.module.css";
import { Dialog } from "./dialog.js";

interface CauseDialogProps {
  readonly title: string;
  /** Name that must be typed first, for an act that reaches far. */
  readonly typedName?: string;
  onConfirm(cause: string): void;
  onClose(): void;
}

/** Asks for the cause of an abort, which everyone sees who looks at the execution. */
export function CauseDialog({ title, typedName, onConfirm, onClose }: CauseDialogProps) {
  const [cause, setCause] = useState("");
  const [typed, setTyped] = useState("");
  const problem = cause.trim() === "" ? "Say why" : typedName !== undefined && typed !== typedName ? `Type ${typedName}` : undefined;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (problem === undefined) onConfirm(cause.trim());
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className={styles.form} onSubmit={submit}>
        <label className={styles.field}>
          Cause
          <textarea className={styles.text} rows={3} value={cause} autoFocus onChange={({ target }) => setCause(target.value)} />
        </label>
        {typedName !== undefined && (
          <label className={styles.field}>
            Type {typedName} to confirm
            <input className={styles.text} value={typed} onChange={({ target }) => setTyped(target.value)} />
          </label>
        )}
        <p className={styles.hint}>Running tasks end, and the cause stays with the execution.</p>
        <div className={styles.buttons}>
          <Button onClick={onClose}>Keep it running</Button>
          <Button type="submit" kind="danger" icon="stop" refused={problem}>
            Abort
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
