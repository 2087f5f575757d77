import type { ExecutionRow } from "../api/execution-row.js";
import { Empty } from "../control/error-panel.js";
import { Table } from "../control/table.js";
import { executionColumns } from "../execution-list/columns.js";
import { useRowKeys } from "./use-row-keys.js";

/** Latest executions of an entity. */
export function Runs({ rows }: { readonly rows: readonly ExecutionRow[] | undefined }) {
  const current = useRowKeys(rows?.length ?? 0);
  if (rows?.length === 0) return <Empty title="It has not run yet" />;
  return (
    <Table label="Executions" columns={executionColumns(undefined)} rows={rows ?? []} rowId={({ key }) => key.name} current={current} />
  );
}
