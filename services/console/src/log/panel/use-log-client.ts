import { useEffect, useState } from "react";
import { useApp } from "../../app/app.js";
import { renewStream } from "../../session/renew-stream.js";
import { pauseWhileHidden } from "../../session/pause-while-hidden.js";
import type { LogClient } from "../session/log-client.js";
import type { LogSource } from "../session/protocol.js";
import { startLog } from "../start-worker.js";

/** Follows a log while the component is there; undefined before the first effect. */
export function useLogClient({ project, domain, name, node, attempt, item, container }: LogSource): LogClient | undefined {
  const { session } = useApp();
  const [client, setClient] = useState<LogClient>();
  useEffect(() => {
    const log = startLog();
    const open = (): void => log.open({ project, domain, name, node, attempt, item, container }, location.origin);
    const stop = pauseWhileHidden(() => log.pause(), open);
    const stopRenewing = renewStream(log, session, open);
    open();
    setClient(log);
    return () => {
      stopRenewing();
      stop();
      log.close();
      setClient(undefined);
    };
  }, [session, project, domain, name, node, attempt, item, container]);
  return client;
}
