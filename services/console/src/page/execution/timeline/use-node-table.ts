import { useEffect, useState } from "react";
import type { ExecutionKey } from "../../../api/scope.js";
import { nodeTablePath, takeEarlyTable } from "../../../node-table/early-table.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { startNodeTable } from "../../../node-table/start-worker.js";
import { useApp } from "../../../app/app.js";
import { pauseWhileHidden } from "../../../session/pause-while-hidden.js";

/**
 * Follows the node table of an execution while the page is there; undefined before the first
 * effect.
 */
export function useNodeTable({ project, domain, name }: ExecutionKey): NodeTableClient | undefined {
  const { clock } = useApp();
  const [client, setClient] = useState<NodeTableClient>();
  useEffect(() => {
    const path = nodeTablePath(encodeURIComponent(project), encodeURIComponent(domain), encodeURIComponent(name));
    const table = takeEarlyTable(path) ?? startNodeTable();
    const open = (): void => table.open({ path, origin: location.origin, clockSkewMs: clock.now() - Date.now() });
    const stop = pauseWhileHidden(() => table.pause(), open);
    open();
    setClient(table);
    return () => {
      stop();
      table.close();
      setClient(undefined);
    };
  }, [clock, project, domain, name]);
  return client;
}
