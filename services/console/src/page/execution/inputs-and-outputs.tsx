import type { LiteralMapJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { useQuery } from "@tanstack/react-query";
import type { ExecutionKey } from "../../api/scope.js";
import { Copy } from "../../control/copy.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { literalText } from "../../literal/literal-text.js";
import { useApp } from "../../app/app.js";
import styles from "./inputs-and-outputs.module.css";
import { dataQuery } from "./queries.js";

/** Inputs and outputs of an execution, all at once. */
export function InputsAndOutputs({ executionKey, ended }: { readonly executionKey: ExecutionKey; readonly ended: boolean }) {
  const { data, error, refetch } = useQuery(dataQuery(useApp(), executionKey, ended));
  if (error !== null) return <ErrorPanel title="Inputs and outputs cannot be read" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  return (
    <div className={styles.columns}>
      <Values title="Inputs" map={data.fullInputs} none="The workflow has no inputs." />
      <Values title="Outputs" map={data.fullOutputs} none={ended ? "It has no outputs." : "There are none until it has succeeded."} />
    </div>
  );
}

function Values({ title, map, none }: { readonly title: string; readonly map: LiteralMapJson | undefined; readonly none: string }) {
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
