import { Menu as BaseMenu } from "@base-ui/react/menu";
import { Fragment, type RefObject } from "react";
import { classes } from "./classes.js";
import { Icon } from "./icon.js";
import type { MenuItem } from "./menu.js";
import styles from "./menu.module.css";

interface MenuPopupProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  readonly anchor: RefObject<HTMLButtonElement | null>;
  onClose(): void;
}

/** Open menu below its button. */
export function MenuPopup({ label, items, anchor, onClose }: MenuPopupProps) {
  return (
    <BaseMenu.Root open modal={false} onOpenChange={(open) => !open && onClose()}>
      <BaseMenu.Portal container={document.getElementById("main")}>
        <BaseMenu.Positioner anchor={anchor} align="start" sideOffset={4} className={styles.positioner ?? ""}>
          <BaseMenu.Popup className={styles.popup ?? ""} aria-label={label} finalFocus={anchor}>
            {items.map((item) => (
              <Fragment key={item.id}>
                {item.group !== undefined && <div className={styles.group}>{item.group}</div>}
                <Item item={item} />
              </Fragment>
            ))}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  );
}

function Item({ item: { text, note, icon, checked, refused, danger = false, run } }: { readonly item: MenuItem }) {
  return (
    <BaseMenu.Item className={classes(styles.item, danger && styles.danger)} disabled={refused !== undefined} title={refused} onClick={run}>
      {icon !== undefined && <Icon name={icon} small />}
      <span className={styles.text}>
        {text}
        {note !== undefined && <small className={styles.note}>{note}</small>}
      </span>
      {checked === true && <Icon name="check" small />}
    </BaseMenu.Item>
  );
}
