import { Link } from "@tanstack/react-router";
import { useApp } from "../app/app.js";
import { useStore } from "../app/use-store.js";
import { IconButton } from "./button.js";
import { classes } from "./classes.js";
import { Icon } from "./icon.js";
import styles from "./toasts.module.css";

/** Results of acts, spoken by assistive technology. */
export function Toasts() {
  const { toasts } = useApp();
  const shown = useStore(toasts);
  return (
    <div className={styles.toasts} role="status">
      {shown.map(({ id, kind, text, link }) => (
        <div key={id} className={classes(styles.toast, styles[kind])}>
          <Icon name={kind === "ok" ? "check" : "warn"} />
          <span className={styles.text}>{text}</span>
          {link !== undefined && (
            <Link to={link.to} className={styles.link} onClick={() => toasts.dismiss(id)}>
              {link.text}
            </Link>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => toasts.dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
