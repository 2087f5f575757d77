import { useEffect, useState } from "react";
import { pauseWhileHidden } from "../../session/pause-while-hidden.js";
import type { LogClient } from "../session/log-client.js";
import type { LogSource } from "../session/protocol.js";
import { startLog } from "../start-worker.js";

/** Follows a log while the component is there; undefined before the first effect. */
export function useLogClient({ project, domain, name, node, attempt, item, container }: LogSource): LogClient | undefined {
  const [client, setClient] = useState<LogClient>();
  useEffect(() => {
    const log = startLog();
    const open = (): void => log.open({ project, domain, name, node, attempt, item, container }, location.origin);
    const stop = pauseWhileHidden(() => log.pause(), open);
    open();
    setClient(log);
    return () => {
      stop();
      log.close();
      setClient(undefined);
    };
  }, [project, domain, name, node, attempt, item, container]);
  return client;
}
