import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { Button, IconButton } from "./button.js";
import { Icon, type IconName } from "./icon.js";

export interface MenuItem {
  readonly id: string;
  readonly text: string;
  /** Second line or shortcut. */
  readonly note?: string;
  readonly icon?: IconName;
  readonly checked?: boolean;
  readonly refused?: string | undefined;
  readonly danger?: boolean;
  /** Title of the group that begins with this item. */
  readonly group?: string;
  run(): void;
}

const MenuPopup = lazy(() => import("./menu-popup.js").then(({ MenuPopup: component }) => ({ default: component })));

interface MenuProps {
  readonly label: string;
  /** Items, or a function that makes them when the menu opens. */
  readonly items: readonly MenuItem[] | (() => readonly MenuItem[]);
  readonly children?: ReactNode;
  readonly icon?: IconName;
  readonly kind?: "plain" | "quiet";
  /** Own trigger in place of a button. */
  readonly trigger?: (props: MenuTriggerProps) => ReactNode;
  readonly onOpen?: () => void;
}

export interface MenuTriggerProps {
  readonly ref: React.Ref<HTMLButtonElement>;
  readonly "aria-haspopup": "menu";
  readonly "aria-expanded": boolean;
  readonly onClick: () => void;
  readonly onPointerEnter: () => void;
}

/** Button with a menu, whose code is loaded when it is needed. */
export function Menu({ label, items, children, icon, kind = "plain", trigger, onOpen }: MenuProps) {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  const props: MenuTriggerProps = {
    ref: anchor,
    "aria-haspopup": "menu",
    "aria-expanded": open,
    onClick: () => {
      onOpen?.();
      setOpen(!open);
    },
    onPointerEnter: () => void import("./menu-popup.js"),
  };
  return (
    <>
      {trigger?.(props) ??
        (children === undefined && icon !== undefined ? (
          <IconButton icon={icon} label={label} {...props} />
        ) : (
          <Button kind={kind} {...(icon && { icon })} {...props}>
            {children}
            <Icon name="chevronDown" small />
          </Button>
        ))}
      {open && (
        <Suspense>
          <MenuPopup label={label} items={typeof items === "function" ? items() : items} anchor={anchor} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
