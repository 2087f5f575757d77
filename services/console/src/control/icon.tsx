import { ICON_PATHS, type IconName } from "./icon-paths.js";
import styles from "./icon.module.css";

export type { IconName } from "./icon-paths.js";

interface IconProps {
  readonly name: IconName;
  readonly small?: boolean;
}

/** Icon beside a text, or in a button with a label: assistive technology does not see it. */
export function Icon({ name, small = false }: IconProps) {
  return (
    <svg className={small ? styles.small : styles.icon} viewBox="0 0 16 16" aria-hidden="true">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
