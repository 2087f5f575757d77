import { useEffect, useState } from "react";
import { useApp } from "../../../app/app.js";
import { takeEarlyTable } from "../../../node-table/early-table.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { startNodeTable } from "../../../node-table/start-worker.js";
import { pauseWhileHidden } from "../../../session/pause-while-hidden.js";

/** Code of gRPC for a caller without a valid sign-in. */
const UNAUTHENTICATED = 16;

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
    let mayRenew = true;
    // The worker has no part in the sign-in.
    const ignoreFailures = table.failure.subscribe(() => {
      if (table.failure.get()?.code !== UNAUTHENTICATED || !mayRenew) return;
      mayRenew = false;
      void session.renew().then(open);
    });
    const ignore = table.live.subscribe(() => {
      const live = table.live.get();
      mayRenew ||= live?.kind === "live";
      stream.setBrokenSince(table, live?.kind === "reconnecting" ? live.since : undefined);
    });
    return () => {
      ignore();
      ignoreFailures();
      stream.setBrokenSince(table, undefined);
      stop();
      table.close();
      setClient(undefined);
    };
  }, [clock, session, stream, path]);
  return client;
}
