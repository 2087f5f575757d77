import { Button } from "../../control/button.js";
import { Copy } from "../../control/copy.js";
import { Dialog } from "../../control/dialog.js";
import form from "../../control/form.module.css";
import styles from "./automation.module.css";
import type { ToldSecret } from "./use-trigger-acts.js";

/** Shows the secret of a webhook, which admin tells once. */
export function SecretDialog({ told: { name, path, secret }, onClose }: { readonly told: ToldSecret; onClose(): void }) {
  const address = `${location.origin}${path}`;
  return (
    <Dialog title={`Secret of ${name}`} onClose={onClose}>
      <div className={form.form}>
        <p>Give the sender this address and this secret. The secret is shown only now.</p>
        <p className={styles.secret}>
          {address} <Copy text={address} label="the address" />
        </p>
        <p className={styles.secret}>
          {secret} <Copy text={secret} label="the secret" />
        </p>
        <div className={form.buttons}>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
