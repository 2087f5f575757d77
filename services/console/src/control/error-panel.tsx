import { RestError } from "@flyte-ts/client/browser";
import { useApp } from "../app/app.js";
import { Button } from "./button.js";
import styles from "./error-panel.module.css";
import { Icon } from "./icon.js";

/** Remedies by gRPC code. */
const REMEDIES: Readonly<Record<number, string>> = {
  3: "The address or a filter is malformed. Remove filters, or go back.",
  5: "It may have been deleted, or the address is wrong. Check the project and domain.",
  7: "Ask an administrator for the role that is needed in this project and domain.",
  8: "The server limits calls. Wait a moment and try again.",
  14: "The console tries again by itself. Check the network, and that the server runs.",
  16: "Sign in again. The page stays as it is.",
};

interface ErrorPanelProps {
  readonly error: Error;
  /** Act that failed: `Executions cannot be listed`. */
  readonly title: string;
  /** Stands for the whole page, so that its title is the heading of the page. */
  readonly isPage?: boolean;
  onRetry?(): void;
}

/** Failed call: what happened, its cause, and the remedy. */
export function ErrorPanel({ error, title, isPage = false, onRetry }: ErrorPanelProps) {
  const { session } = useApp();
  const code = error instanceof RestError ? error.code : undefined;
  const remedy = (code === undefined ? undefined : REMEDIES[code]) ?? "Try again. If it stays, the server's log says more.";
  return (
    <div className={styles.panel} role="alert">
      <span className={styles.icon}>
        <Icon name="warn" />
      </span>
      <div className={styles.text}>
        {isPage ? <h1 className={styles.heading}>{title}</h1> : <strong>{title}</strong>}
        <p className={styles.cause}>{error.message}</p>
        <p>{remedy}</p>
      </div>
      {code === 16 ? (
        <Button onClick={() => session.signIn()}>Sign in again</Button>
      ) : (
        onRetry && <Button onClick={onRetry}>Try again</Button>
      )}
    </div>
  );
}

/** Empty list: why, and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: React.ReactNode }) {
  return (
    <div className={styles.empty}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}
