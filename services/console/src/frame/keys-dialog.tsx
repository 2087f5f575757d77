import { Fragment } from "react";
import { Dialog } from "../control/dialog.js";
import { Key } from "../control/pill.js";
import { useApp } from "../app/app.js";
import type { KeyAct } from "../keys/key-map.js";
import styles from "./keys-dialog.module.css";

const GROUPS: readonly KeyAct["group"][] = ["Everywhere", "Go", "List", "Execution"];
const NAMES: Readonly<Record<string, string>> = { "mod+k": "⌘K", Enter: "↵" };

/** All keys of the page that is open. */
export function KeysDialog({ onClose }: { onClose(): void }) {
  const { keys } = useApp();
  const acts = keys.acts();
  return (
    <Dialog title="Keys" onClose={onClose}>
      <div className={styles.groups}>
        {GROUPS.map((group) => {
          const members = acts.filter((act) => act.group === group);
          return (
            members.length > 0 && (
              <section key={group}>
                <h3 className={styles.title}>{group}</h3>
                <dl className={styles.keys}>
                  {members.map((act) => (
                    <Fragment key={act.keys}>
                      <dt>{act.label}</dt>
                      <dd>
                        {act.keys.split(" ").map((key) => (
                          <Key key={key}>{NAMES[key] ?? key}</Key>
                        ))}
                      </dd>
                    </Fragment>
                  ))}
                </dl>
              </section>
            )
          );
        })}
      </div>
    </Dialog>
  );
}
