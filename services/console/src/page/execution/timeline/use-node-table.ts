import { pathOf } from "@flyte-ts/client/browser";
import { useEffect, useState } from "react";
import type { ExecutionKey } from "../../../api/scope.js";
import { connectNodeTable, type NodeTableClient } from "../../../node-table/node-table-client.js";
import { useApp } from "../../../app/app.js";
import { startNodeTableWorker } from "./start-worker.js";

/** A hidden page gives its connection back after this time; browsers allow six. */
const HIDDEN_MS = 20_000;

/**
 * Follows the node table of an execution while the page is there; undefined before the first
 * effect.
 */
export function useNodeTable({ project, domain, name }: ExecutionKey): NodeTableClient | undefined {
  const { clock } = useApp();
  const [client, setClient] = useState<NodeTableClient>();
  useEffect(() => {
    const table = connectNodeTable(startNodeTableWorker() as Parameters<typeof connectNodeTable>[0]);
    const open = (): void =>
      table.open({
        path: pathOf("api/v1/watch/node_table", project, domain, name),
        origin: location.origin,
        clockSkewMs: clock.now() - Date.now(),
      });
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

/** Calls `pause` when the page has been hidden for a while, and `resume` when it is seen again. */
function pauseWhileHidden(pause: () => void, resume: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPaused = false;
  const changed = (): void => {
    clearTimeout(timer);
    if (document.hidden) {
      timer = setTimeout(() => {
        isPaused = true;
        pause();
      }, HIDDEN_MS);
    } else if (isPaused) {
      isPaused = false;
      resume();
    }
  };
  document.addEventListener("visibilitychange", changed);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", changed);
  };
}
