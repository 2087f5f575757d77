import { useEffect, useState } from "react";
import { useApp } from "../../../app/app.js";
import { takeEarlyTable } from "../../../node-table/early-table.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { startNodeTable } from "../../../node-table/start-worker.js";
import { renewStream } from "../../../session/renew-stream.js";
import { pauseWhileHidden } from "../../../session/pause-while-hidden.js";

/**
 * Follows the table at a path of the API while the component is there; undefined before the first
 * effect.
 */
export function useTableStream(path: string): NodeTableClient | undefined {
  const { clock, session, stream } = useApp();
  const [client, setClient] = useState<NodeTableClient>();
  useEffect(() => {
    const early = takeEarlyTable(path);
    const table = early ?? startNodeTable();
    const open = (): void => table.open({ path, origin: location.origin, clockSkewMs: clock.now() - Date.now() });
    const stop = pauseWhileHidden(() => table.pause(), open);
    // A table that was opened early is on its way, unless it has failed.
    if (early === undefined || early.failure.get() !== undefined) open();
    setClient(table);
    const stopRenewing = renewStream(table, session, open);
    const ignore = table.live.subscribe(() => {
      const live = table.live.get();
      stream.setBrokenSince(table, live?.kind === "reconnecting" ? live.since : undefined);
    });
    return () => {
      ignore();
      stopRenewing();
      stream.setBrokenSince(table, undefined);
      stop();
      table.close();
      setClient(undefined);
    };
  }, [clock, session, stream, path]);
  return client;
}
