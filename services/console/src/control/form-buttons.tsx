import { Button } from "./button.js";
import form from "./form.module.css";

interface FormButtonsProps {
  /** Verb of the act: `Create`. */
  readonly verb: string;
  /** Reason why the form cannot be sent yet. */
  readonly refused: string | undefined;
  onCancel(): void;
}

/** Buttons at the end of a dialog's form. */
export function FormButtons({ verb, refused, onCancel }: FormButtonsProps) {
  return (
    <div className={form.buttons}>
      <Button onClick={onCancel}>Cancel</Button>
      <Button type="submit" kind="primary" refused={refused}>
        {verb}
      </Button>
    </div>
  );
}
