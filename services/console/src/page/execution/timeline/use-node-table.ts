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
  const { clock, stream } = useApp();
  const [client, setClient] = useState<NodeTableClient>();
  useEffect(() => {
    const path = nodeTablePath(encodeURIComponent(project), encodeURIComponent(domain), encodeURIComponent(name));
    const early = takeEarlyTable(path);
    const table = early ?? startNodeTable();
    const open = (): void => table.open({ path, origin: location.origin, clockSkewMs: clock.now() - Date.now() });
    const stop = pauseWhileHidden(() => table.pause(), open);
    // A table that was opened early is on its way, unless it has failed.
    if (early === undefined || early.failure.get() !== undefined) open();
    setClient(table);
    const ignore = table.live.subscribe(() => {
      const live = table.live.get();
      stream.setBrokenSince(live?.kind === "reconnecting" ? live.since : undefined);
    });
    return () => {
      ignore();
      stream.setBrokenSince(undefined);
      stop();
      table.close();
      setClient(undefined);
    };
  }, [clock, stream, project, domain, name]);
  return client;
}
