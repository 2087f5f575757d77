import { Suspense, useEffect } from "react";
import type { ExecutionKey } from "../../../api/scope.js";
import { classes } from "../../../control/classes.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import type { ExecutionSearch } from "../../../route/execution-search.js";
import { useStore } from "../../../app/use-store.js";
import { useGateTitles } from "../gate/use-gate-titles.js";
import { NodePane } from "../lazy-views.js";
import { markComplete, markFirstRows, markPage } from "./page-marks.js";
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
  const rows = useStore(client.shown)?.rows ?? [];
  const titleOf = useGateTitles(executionKey, rows);
  const row = rows.find(({ nodeId }) => nodeId === node);
  const version = row === undefined ? 0 : row.phase * 256 + row.attempts;
  const hasRows = rows.length > 0;
  const isComplete = useStore(client.summary)?.isComplete === true;
  useEffect(() => {
    if (hasRows) {
      markFirstRows();
      markPage();
    }
    if (hasRows && isComplete) markComplete();
  }, [hasRows, isComplete]);
  const select = (id: string): void => onChange({ node: id, attempt: "", item: "" });
  return (
    <div className={node === "" ? styles.whole : classes(styles.split, search.pane !== "" && styles.wide)}>
      <TimelineView noun="node" client={client} titleOf={titleOf} selected={node} onSelect={select} />
      <Suspense>
        {node !== "" && <NodePane executionKey={executionKey} node={node} version={version} search={search} onChange={onChange} />}
      </Suspense>
    </div>
  );
}
