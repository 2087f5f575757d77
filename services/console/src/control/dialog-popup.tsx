import { Dialog as BaseDialog } from "@base-ui/react/dialog";
import { IconButton } from "./button.js";
import { classes } from "./classes.js";
import type { DialogProps } from "./dialog.js";
import styles from "./dialog.module.css";

export function DialogPopup({ title, children, wide = false, onClose }: DialogProps) {
  return (
    <BaseDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.backdrop ?? ""} />
        <BaseDialog.Popup className={classes(styles.popup, wide && styles.wide)}>
          <header className={styles.header}>
            <BaseDialog.Title className={styles.title ?? ""}>{title}</BaseDialog.Title>
            <IconButton icon="close" label="Close" onClick={onClose} />
          </header>
          {children}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
