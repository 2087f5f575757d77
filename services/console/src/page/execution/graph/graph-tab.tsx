import { Suspense, useState } from "react";
import { pathOf } from "@flyte-ts/client/browser";
import type { ExecutionKey } from "../../../api/scope.js";
import { classes } from "../../../control/classes.js";
import type { SelectedNode } from "../../../graph/graph-props.js";
import { useGraphClient } from "../../../graph/hook/use-graph-client.js";
import type { GraphClient } from "../../../graph/graph-client.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import type { ExecutionSearch } from "../../../route/execution-search.js";
import { useStore } from "../../../app/use-store.js";
import { NodePane } from "../lazy-views.js";
import styles from "../timeline/timeline-tab.module.css";
import { GraphView } from "./graph-view.js";
import { PlannedNode } from "./planned-node.js";

interface GraphTabProps {
  readonly executionKey: ExecutionKey;
  readonly client: NodeTableClient;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/** Graph of an execution, and beside it the selected node. */
export function GraphTab(props: GraphTabProps) {
  const { project, domain, name } = props.executionKey;
  const graph = useGraphClient(pathOf("api/v1/graphs/executions", project, domain, name));
  return graph && <OpenGraph {...props} graph={graph} />;
}

function OpenGraph({ executionKey, client, graph, search, onChange }: GraphTabProps & { readonly graph: GraphClient }) {
  const [planned, setPlanned] = useState<SelectedNode | undefined>();
  const { node } = search;
  const version = useNodeVersion(graph, node);
  const select = (selected: SelectedNode): void => {
    setPlanned(selected.id === "" ? selected : undefined);
    if (selected.id !== node) onChange({ node: selected.id, attempt: "", item: "" });
  };
  const hasPane = node !== "" || planned !== undefined;
  return (
    <div className={hasPane ? classes(styles.split, search.pane !== "" && styles.wide) : styles.whole}>
      <GraphView client={client} graph={graph} selected={node === "" ? undefined : node} onSelect={select} />
      <Suspense>
        {node !== "" && <NodePane executionKey={executionKey} node={node} version={version} search={search} onChange={onChange} />}
      </Suspense>
      {node === "" && planned !== undefined && <PlannedNode node={planned} onClose={() => setPlanned(undefined)} />}
    </div>
  );
}

/** Number that changes with the state of a node, so that its details are read again; 0: unknown. */
function useNodeVersion(graph: GraphClient, id: string): number {
  const states = useStore(graph.shown)?.states;
  const at = states === undefined || id === "" ? -1 : states.ids.indexOf(id);
  return states === undefined || at === -1 ? 0 : 256 + (states.state[at] as number) * 256 + (states.attempts[at] as number);
}
