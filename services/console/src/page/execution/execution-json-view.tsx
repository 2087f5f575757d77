import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { Copy } from "../../control/copy.js";
import styles from "./execution-json-view.module.css";

/** The execution as the API answers it. */
export function ExecutionJsonView({ execution }: { readonly execution: ExecutionJson }) {
  const text = JSON.stringify(execution, null, 2);
  return (
    <div className={styles.view}>
      <div className={styles.copy}>
        <Copy text={text} label="the JSON" />
      </div>
      <pre className={styles.text}>{text}</pre>
    </div>
  );
}
