import { useQuery } from "@tanstack/react-query";
import type { ExecutionKey } from "../../api/scope.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { useApp } from "../../app/app.js";
import styles from "./inputs-and-outputs.module.css";
import { dataQuery } from "./queries.js";
import { Values } from "./values.js";

/** Inputs and outputs of an execution, all at once. */
export function InputsAndOutputs({ executionKey, ended }: { readonly executionKey: ExecutionKey; readonly ended: boolean }) {
  const { data, error, refetch } = useQuery(dataQuery(useApp(), executionKey, ended));
  if (error !== null && data === undefined)
    return <ErrorPanel title="Inputs and outputs cannot be read" error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return null;
  return (
    <div className={styles.columns}>
      <Values title="Inputs" map={data.fullInputs} none="The workflow has no inputs." />
      <Values title="Outputs" map={data.fullOutputs} none={ended ? "It has no outputs." : "There are none until it has succeeded."} />
    </div>
  );
}
