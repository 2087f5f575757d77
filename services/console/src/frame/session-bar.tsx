import { Button } from "../control/button.js";
import { useApp, useSessionState } from "../app/app.js";
import styles from "./session-bar.module.css";

/** Bar of a session that only its user can renew. */
export function SessionBar() {
  const { session } = useApp();
  if (useSessionState() === "active") return null;
  return (
    <div className={styles.bar} role="alert">
      <span>Your session has ended. The page and what you entered stay.</span>
      <Button kind="primary" small onClick={() => session.signIn()}>
        Sign in again
      </Button>
    </div>
  );
}
