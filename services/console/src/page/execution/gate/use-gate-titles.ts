import { useQuery } from "@tanstack/react-query";
import { useApp } from "../../../app/app.js";
import type { ExecutionKey } from "../../../api/scope.js";
import type { RowView } from "../../../node-table/session/protocol.js";
import type { RowTitle } from "../../../timeline/tree/row-text.js";
import { executionQuery } from "../queries.js";
import { signalsQuery, workflowQuery } from "./gate-queries.js";
import { gateTitles, mayBeGateRow } from "./gate-titles.js";

/**
 * Returns names of the gates among rows in sight. Only an execution that has asked for a signal
 * needs its workflow, which may be large.
 */
export function useGateTitles(key: ExecutionKey, rows: readonly RowView[]): ((row: RowView) => RowTitle | undefined) | undefined {
  const app = useApp();
  const { data: execution } = useQuery(executionQuery(app, key));
  const signals = useQuery({ ...signalsQuery(app, key), enabled: rows.some(mayBeGateRow) });
  const id = execution?.execution.closure?.workflowId;
  const hasAsked = (signals.data?.length ?? 0) > 0;
  const { data: workflow } = useQuery({ ...workflowQuery(app, id ?? {}), enabled: id !== undefined && hasAsked });
  return workflow && gateTitles(workflow);
}
