import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import type { ExecutionKey } from "../../../api/scope.js";
import { IconButton } from "../../../control/button.js";
import { Copy } from "../../../control/copy.js";
import { ErrorPanel } from "../../../control/error-panel.js";
import { PhaseMark } from "../../../control/phase-mark.js";
import { Duration, Time } from "../../../control/time.js";
import { readDurationMs } from "../../../format/duration.js";
import { errorTitle } from "../../../format/error-title.js";
import { isGiven } from "../../../format/given.js";
import { nodePhaseLook } from "../../../format/phase.js";
import { readTimeMs } from "../../../format/time.js";
import { useApp } from "../../../app/app.js";
import { Segments } from "../../../control/segments.js";
import type { ExecutionSearch } from "../../../route/execution-search.js";
import { mayBeGate } from "../gate/find-gate.js";
import { Deck } from "./deck.js";
import { Items } from "./items.js";
import { NodeLog } from "../log/node-log.js";
import { Attempts } from "../attempts.js";
import styles from "./node-pane.module.css";
import { attemptsQuery, nodeDataQuery, nodeQuery } from "../queries.js";
import { Values } from "../values.js";
import { LaunchedExecution } from "./launched-execution.js";
import { useNodeChanges, useNodeEnd } from "./use-node-changes.js";

/** Question of a gate, whose code is loaded when a node may be one. */
const GatePane = lazy(() => import("../gate/gate-pane.js").then(({ GatePane: component }) => ({ default: component })));

interface NodePaneProps {
  readonly executionKey: ExecutionKey;
  readonly node: string;
  /** Changes with the node, so that its parts are read again; 0 until it is known. */
  readonly version: number;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/** The state of a node that has not ended is read again this often, ms. */
const REFRESH_MS = 5_000;

const DETAILS = { id: "", title: "Details" } as const;
const ITEMS = { id: "items", title: "Items" } as const;
const LOG = { id: "log", title: "Log" } as const;
const DECK = { id: "deck", title: "Deck" } as const;

/** Selected node: its phase, error, attempts, inputs and outputs, or its log. */
export function NodePane({ executionKey, node, version, search, onChange }: NodePaneProps) {
  const app = useApp();
  const { pane } = search;
  // The rows in sight tell changes, and the node may not be among them.
  const { data, error, refetch } = useQuery({
    ...nodeQuery(app, executionKey, node),
    refetchInterval: ({ state }) => (nodePhaseLook(state.data?.closure?.phase).terminal ? false : REFRESH_MS),
  });
  const isGate = mayBeGate(data);
  // A gate has no attempts; a node is read first, so that its question takes no call more.
  const attempts = useQuery({ ...attemptsQuery(app, executionKey, node), enabled: data !== undefined && !isGate });
  const values = useQuery({ ...nodeDataQuery(app, executionKey, node), enabled: pane === "" });
  useNodeChanges(executionKey, node, version);
  useNodeEnd(executionKey, node, data && nodePhaseLook(data.closure?.phase).terminal);
  const closure = data?.closure;
  // An array has the items' logs, none of its own.
  const isArray = data?.metadata?.isArray === true;
  const logs = isArray ? (search.item === "" ? [ITEMS] : [ITEMS, LOG]) : [LOG];
  const parts = [DETAILS, ...logs, ...(closure?.deckUri ? [DECK] : [])];
  const shown = isArray && pane === "log" && search.item === "" ? "items" : pane;
  const look = nodePhaseLook(closure?.phase);
  const ended = look.terminal ? (readDurationMs(closure?.duration) ?? 0) : undefined;
  return (
    <aside className={styles.pane} aria-label={`Node ${node}`}>
      <h2 className={styles.title}>
        {data !== undefined && <PhaseMark look={look} bare />}
        <span className={styles.name}>{node}</span>
        <Copy text={node} label="the node's id" />
        <IconButton icon="close" label="Close" onClick={() => onChange({ node: "", pane: "" })} />
      </h2>
      {error !== null && <ErrorPanel title={`The node ${node} cannot be shown`} error={error} onRetry={() => void refetch()} />}
      {isGiven(closure) && (
        <p className={styles.facts}>
          {look.word} · <Time timeMs={readTimeMs(closure.startedAt ?? closure.createdAt)} /> ·{" "}
          <Duration durationMs={ended} sinceMs={readTimeMs(closure.startedAt)} />
        </p>
      )}
      <LaunchedExecution id={closure?.workflowNodeMetadata?.executionId} />
      {attempts.data !== undefined && attempts.data.length > 0 && (
        <Segments
          label="Part of the node"
          choices={parts}
          current={shown}
          onChoose={(next) => onChange({ pane: next, item: next === "log" ? search.item : "" })}
        />
      )}
      {shown === "items" && (
        <Items
          executionKey={executionKey}
          node={node}
          attempt={search.attempt}
          selected={search.item}
          onSelect={(item) => onChange({ pane: "log", item })}
        />
      )}
      {shown === "log" && (
        <NodeLog
          executionKey={executionKey}
          node={node}
          attempt={search.attempt}
          item={search.item}
          onAttempt={(attempt) => onChange({ attempt })}
        />
      )}
      {shown === "deck" && <Deck executionKey={executionKey} node={node} />}
      {shown === "" && (
        <>
          {isGiven(closure?.error) && (
            <section className={styles.error} aria-label="Error">
              <b>{errorTitle(closure.error.message ?? "", closure.error.code ?? "")}</b>
              <pre className={styles.message} tabIndex={0}>
                {closure.error.message}
              </pre>
            </section>
          )}
          {isGate && (
            <Suspense>
              <GatePane executionKey={executionKey} specNodeId={data?.metadata?.specNodeId ?? node} />
            </Suspense>
          )}
          {attempts.data !== undefined && attempts.data.length > 0 && <Attempts attempts={attempts.data} />}
          {values.data !== undefined && (
            <div className={styles.values}>
              <Values title="Inputs" map={values.data.fullInputs} none="The node has no inputs." />
              <Values title="Outputs" map={values.data.fullOutputs} none={look.terminal ? "It has no outputs." : "There are none yet."} />
            </div>
          )}
        </>
      )}
    </aside>
  );
}
