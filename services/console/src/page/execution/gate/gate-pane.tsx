import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { useApp } from "../../../app/app.js";
import type { ExecutionKey } from "../../../api/scope.js";
import { Button } from "../../../control/button.js";
import { ErrorPanel } from "../../../control/error-panel.js";
import { useRights } from "../../../frame/use-role.js";
import { executionQuery } from "../queries.js";
import { type Gate, openGates } from "./find-gate.js";
import styles from "./gate-pane.module.css";
import { signalsQuery, workflowQuery } from "./gate-queries.js";

/** Form of a signal's type, whose code is loaded when a gate asks for a value. */
const SignalForm = lazy(() => import("./signal-form.js").then(({ SignalForm: component }) => ({ default: component })));

interface GatePaneProps {
  readonly executionKey: ExecutionKey;
  /** Id of the node in its workflow. */
  readonly specNodeId: string;
}

/** Questions of a gate node that waits, with the buttons or the form that answers them. */
export function GatePane({ executionKey: key, specNodeId }: GatePaneProps) {
  const app = useApp();
  const signals = useQuery(signalsQuery(app, key));
  const { data: execution } = useQuery(executionQuery(app, key));
  const id = execution?.execution.closure?.workflowId;
  const hasOpen = signals.data?.some(({ value }) => value === undefined || value === null) === true;
  const workflow = useQuery({ ...workflowQuery(app, id ?? {}), enabled: id !== undefined && hasOpen });
  const error = signals.error ?? workflow.error;
  if (error !== null && (signals.data === undefined || (hasOpen && workflow.data === undefined)))
    return <ErrorPanel title="The node's question cannot be read" error={error} onRetry={() => void signals.refetch()} />;
  if (signals.data === undefined || workflow.data === undefined) return null;
  return openGates(workflow.data, specNodeId, signals.data).map((gate) => <Question key={gate.signalId} executionKey={key} gate={gate} />);
}

function Question({ executionKey: key, gate }: { readonly executionKey: ExecutionKey; readonly gate: Gate }) {
  const { api, toasts } = useApp();
  const queries = useQueryClient();
  const { refusal } = useRights(key);
  const refused = refusal("runner");
  const answer = useMutation({
    mutationFn: (value: LiteralJson) => api.signals.set(key, gate.signalId, value),
    onSuccess: () => {
      toasts.show({ kind: "ok", text: `Answered ${gate.signalId}` });
      void queries.invalidateQueries({ queryKey: ["signals", key] });
    },
  });
  const decide = (boolean: boolean): void => answer.mutate({ scalar: { primitive: { boolean } } });
  return (
    <section className={styles.gate} aria-label={`Question ${gate.signalId}`}>
      <h3 className={styles.title}>
        {gate.kind === "approval" ? "Waits for an approval" : "Waits for a value"} <b>{gate.signalId}</b>
      </h3>
      {gate.kind === "approval" ? (
        <div className={styles.buttons}>
          <Button kind="primary" icon="check" refused={refused} disabled={answer.isPending} onClick={() => decide(true)}>
            Approve
          </Button>
          <Button kind="danger" icon="close" refused={refused} disabled={answer.isPending} onClick={() => decide(false)}>
            Reject
          </Button>
        </div>
      ) : (
        <Suspense>
          <SignalForm gate={gate} refused={refused} isPending={answer.isPending} onSend={(value) => answer.mutate(value)} />
        </Suspense>
      )}
      {answer.error !== null && <ErrorPanel title="The answer was not taken" error={answer.error} />}
    </section>
  );
}
