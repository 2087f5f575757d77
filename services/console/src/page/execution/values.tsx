import type { LiteralMapJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { Copy } from "../../control/copy.js";
import { literalText } from "../../literal/literal-text.js";
import styles from "./values.module.css";

interface ValuesProps {
  readonly title: string;
  readonly map: LiteralMapJson | undefined;
  /** Text where there are none. */
  readonly none: string;
}

/** Values by name, each with its type. */
export function Values({ title, map, none }: ValuesProps) {
  const values = Object.entries(map?.literals ?? {});
  return (
    <section className={styles.values} aria-label={title}>
      <h2 className={styles.title}>
        {title} <span>{values.length}</span>
        {values.length > 0 && <Copy text={JSON.stringify(map?.literals, null, 2)} label={`${title.toLowerCase()} as JSON`} />}
      </h2>
      {values.length === 0 && <p className={styles.none}>{none}</p>}
      <dl>
        {values.map(([name, literal]) => {
          const { type, text } = literalText(literal);
          return (
            <div key={name} className={styles.value}>
              <dt>
                {name} <span>{type}</span>
              </dt>
              <dd>
                <pre className={styles.text}>{text}</pre>
                <Copy text={text} label={name} />
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
