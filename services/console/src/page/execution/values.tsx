import type { LiteralMapJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { lazy, Suspense } from "react";
import { Copy } from "../../control/copy.js";
import { literalText } from "../../literal/literal-text.js";
import styles from "./values.module.css";

/** Views of values, whose code is loaded when values are shown. */
const ValueView = lazy(() => import("../../literal/view/value-view.js").then(({ ValueView: component }) => ({ default: component })));

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
          const { type } = literalText(literal);
          return (
            <div key={name} className={styles.value}>
              <dt>
                {name} <span>{type}</span>
              </dt>
              <dd>
                <Suspense fallback={<span>…</span>}>
                  <ValueView literal={literal} name={name} />
                </Suspense>
              </dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}
