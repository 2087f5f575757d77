import { RestError } from "@flyte-ts/client/browser";
import { useEffect } from "react";
import { ErrorPanel } from "../../../control/error-panel.js";
import { formatDuration } from "../../../format/duration.js";
import { Graph } from "../../../graph/graph.js";
import type { GraphClient } from "../../../graph/graph-client.js";
import type { SelectedNode } from "../../../graph/graph-props.js";
import { useGraphColours } from "../../../graph/hook/use-graph-colours.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { useClock } from "../../../timeline/hook/use-clock.js";
import { useStore } from "../../../app/use-store.js";
import { useApp } from "../../../app/app.js";
import { markGraph } from "../timeline/page-marks.js";

interface GraphViewProps {
  readonly client: NodeTableClient;
  readonly graph: GraphClient;
  /** Id of the selected node; undefined for none. */
  readonly selected: string | undefined;
  onSelect(node: SelectedNode): void;
}

/** Interval at which the durations of what runs grow. */
const STEP_MS = 1_000;

/** Graph of an execution's workflow, in the colours of its nodes' phases. */
export function GraphView({ client, graph, selected, onSelect }: GraphViewProps) {
  const { clock } = useApp();
  const colours = useGraphColours();
  const failure = useStore(graph.failure);
  const hasScene = useStore(graph.shown) !== undefined;
  const createdAtMs = useStore(client.execution)?.createdAtMs;
  const { hasEnded = false, lastMs = 0 } = useStore(client.summary) ?? {};
  const nowMs = useClock({ createdAtMs, hasEnded, lastMs, clockSkewMs: clock.now() - Date.now(), stepMs: STEP_MS });
  useEffect(() => {
    if (hasScene) markGraph();
  }, [hasScene]);
  useEffect(() => client.follow(graph.setNodes), [client, graph]);
  if (failure !== undefined && failure.node === "")
    return (
      <ErrorPanel title="The graph cannot be shown" error={new RestError(failure.code, failure.message, 0)} onRetry={() => graph.retry()} />
    );
  return (
    <>
      {failure !== undefined && (
        <ErrorPanel
          title={`The graph that the node ${failure.node} has made cannot be shown`}
          error={new RestError(failure.code, failure.message, 0)}
        />
      )}
      <Graph client={graph} colours={colours} selected={selected} nowMs={nowMs} durationText={formatDuration} onSelect={onSelect} />
    </>
  );
}
