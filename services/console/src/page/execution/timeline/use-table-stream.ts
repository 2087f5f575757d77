import { useEffect, useState } from "react";
import { useApp } from "../../../app/app.js";
import { earlyTable, takeEarlyTable } from "../../../node-table/early-table.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { startNodeTable } from "../../../node-table/start-worker.js";
import { renewStream } from "../../../session/renew-stream.js";
import { joinTabs } from "../../../session/connection-share.js";
import { holdConnection } from "../../../session/hold-connection.js";

/**
 * Follows the table at a path of the API while the component is there; undefined before the first
 * effect, unless the table was opened early.
 */
export function useTableStream(path: string): NodeTableClient | undefined {
  const { clock, session, stream } = useApp();
  const [client, setClient] = useState(() => earlyTable(path));
  useEffect(() => {
    const early = takeEarlyTable(path);
    const table = early ?? startNodeTable();
    const connection = holdConnection({
      stream: {
        live: table.live,
        open: (isFollowed) => table.open({ path, origin: location.origin, clockSkewMs: clock.now() - Date.now(), isFollowed }),
        pause: () => table.pause(),
      },
      join: joinTabs,
      // A table that was opened early is on its way, unless it has failed.
      isOpen: early !== undefined && early.failure.get() === undefined,
    });
    setClient(table);
    const stopRenewing = renewStream(table, session, () => connection.open());
    const ignore = table.live.subscribe(() => {
      const live = table.live.get();
      stream.setBrokenSince(table, live?.kind === "reconnecting" ? live.since : undefined);
    });
    return () => {
      ignore();
      stopRenewing();
      stream.setBrokenSince(table, undefined);
      connection.end();
      table.close();
      setClient(undefined);
    };
  }, [clock, session, stream, path]);
  return client;
}
