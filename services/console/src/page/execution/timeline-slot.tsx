import { useInfiniteQuery } from "@tanstack/react-query";
import type { ExecutionRow } from "../../api/execution-row.js";
import type { ExecutionKey } from "../../api/scope.js";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { Table } from "../../control/table.js";
import type { ExecutionSearch } from "../../route/execution-search.js";
import { useApp } from "../../app/app.js";
import { nodeColumns, nodeRows } from "./node-rows.js";
import { nodesQuery } from "./queries.js";

export interface TimelineSlotProps {
  readonly executionKey: ExecutionKey;
  readonly row: ExecutionRow | undefined;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/** Nodes of an execution in the order in which they were created. */
export function TimelineSlot({ executionKey, row }: TimelineSlotProps) {
  const list = useInfiniteQuery(nodesQuery(useApp(), executionKey, row?.look.terminal === true));
  if (list.isError && list.data === undefined)
    return <ErrorPanel title="The nodes cannot be listed" error={list.error} onRetry={() => void list.refetch()} />;
  const rows = nodeRows(list.data?.pages.flatMap(({ nodeExecutions = [] }) => nodeExecutions) ?? []);
  if (list.data !== undefined && rows.length === 0) return <Empty title="No node has begun" />;
  return (
    <Table
      label="Nodes"
      columns={nodeColumns}
      rows={rows}
      rowId={({ id }) => id}
      total={list.hasNextPage ? -1 : undefined}
      onEndInSight={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
    />
  );
}
