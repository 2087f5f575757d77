import type { ExecutionKey } from "../../../api/scope.js";
import { classes } from "../../../control/classes.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import type { ExecutionSearch } from "../../../route/execution-search.js";
import { useStore } from "../../../timeline/hook/use-store.js";
import { NodePane } from "./node-pane.js";
import styles from "./timeline-tab.module.css";
import { TimelineView } from "./timeline-view.js";

interface TimelineTabProps {
  readonly executionKey: ExecutionKey;
  readonly client: NodeTableClient;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/** Timeline of an execution, and beside it the selected node. */
export function TimelineTab({ executionKey, client, search, onChange }: TimelineTabProps) {
  const { node } = search;
  const row = useStore(client.shown)?.rows.find(({ nodeId }) => nodeId === node);
  const version = row === undefined ? 0 : row.phase * 256 + row.attempts;
  return (
    <div className={node === "" ? styles.whole : classes(styles.split, search.pane === "log" && styles.log)}>
      <TimelineView client={client} search={search} onChange={onChange} />
      {node !== "" && <NodePane executionKey={executionKey} node={node} version={version} search={search} onChange={onChange} />}
    </div>
  );
}
