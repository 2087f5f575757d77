import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { ExecutionKey } from "../../../api/scope.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { isNewer } from "./newer-state.js";

/** Reads an execution again when the stream of its nodes has a newer state than the page. */
export function useReadOnChange(client: NodeTableClient | undefined, { project, domain, name }: ExecutionKey): void {
  const queries = useQueryClient();
  useEffect(() => {
    if (client === undefined) return;
    const queryKey = ["execution", { project, domain, name }];
    return client.execution.subscribe(() => {
      const read = queries.getQueryData<{ readonly execution: ExecutionJson }>(queryKey);
      if (isNewer(client.execution.get(), read?.execution)) void queries.invalidateQueries({ queryKey });
    });
  }, [client, queries, project, domain, name]);
}
