import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { settingsOf } from "./settings-facts.js";
import styles from "./settings.module.css";

/** Settings that an execution ran with. */
export function Settings({ execution }: { readonly execution: ExecutionJson }) {
  return (
    <div className={styles.settings}>
      {settingsOf(execution).map(({ title, facts }) => (
        <section key={title} className={styles.group}>
          <h2 className={styles.title}>{title}</h2>
          <dl className={styles.facts}>
            {facts.map(([name, value]) => (
              <div key={name} className={styles.fact}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </div>
  );
}
