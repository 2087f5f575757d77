import type { ReactNode } from "react";
import { Button } from "./button.js";
import { Dialog } from "./dialog.js";
import form from "./form.module.css";

interface ConfirmDialogProps {
  readonly title: string;
  /** Verb of the act: `Take away`. */
  readonly verb: string;
  /** Consequences of the act. */
  readonly children: ReactNode;
  onConfirm(): void;
  onClose(): void;
}

/** Question before an act that cannot be undone by the next click. */
export function ConfirmDialog({ title, verb, children, onConfirm, onClose }: ConfirmDialogProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className={form.form}>
        <p>{children}</p>
        <div className={form.buttons}>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="danger" onClick={onConfirm}>
            {verb}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
