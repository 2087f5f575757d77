import { pathOf, RestError } from "@flyte-ts/client/browser";
import type { Scope } from "../../api/scope.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { formatDuration } from "../../format/duration.js";
import { Graph } from "../../graph/graph.js";
import type { GraphClient } from "../../graph/graph-client.js";
import { useGraphClient } from "../../graph/hook/use-graph-client.js";
import { useGraphColours } from "../../graph/hook/use-graph-colours.js";
import { useStore } from "../../app/use-store.js";
import styles from "./workflow-graph.module.css";

interface WorkflowGraphProps {
  readonly scope: Scope;
  readonly name: string;
  readonly version: string;
}

/** Graph of a version of a workflow, without an execution. */
export function WorkflowGraph({ scope: { project, domain }, name, version }: WorkflowGraphProps) {
  const graph = useGraphClient(pathOf("api/v1/graphs/workflows", project, domain, name, version));
  return <div className={styles.graph}>{graph && <StaticGraph graph={graph} />}</div>;
}

function StaticGraph({ graph }: { readonly graph: GraphClient }) {
  const colours = useGraphColours();
  const failure = useStore(graph.failure);
  if (failure !== undefined)
    return (
      <ErrorPanel title="The graph cannot be shown" error={new RestError(failure.code, failure.message, 0)} onRetry={() => graph.retry()} />
    );
  return <Graph client={graph} colours={colours} selected={undefined} nowMs={0} durationText={formatDuration} onSelect={() => undefined} />;
}
