import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import type { ExecutionKey } from "../../../api/scope.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { isNewer } from "./newer-state.js";

/**
 * Reads an execution again when the stream of its nodes has a newer state than the one that was
 * read. The stream may have reported it before the page or the answer was there.
 */
export function useReadOnChange(client: NodeTableClient | undefined, key: ExecutionKey, read: ExecutionJson | undefined): void {
  const { project, domain, name } = key;
  const queries = useQueryClient();
  useEffect(() => {
    if (client === undefined || read === undefined) return;
    const compare = (): void => {
      const reported = client.execution.get();
      if (reported !== undefined && isNewer(reported, read))
        void queries.invalidateQueries({ queryKey: ["execution", { project, domain, name }] });
    };
    compare();
    return client.execution.subscribe(compare);
  }, [client, queries, project, domain, name, read]);
}
