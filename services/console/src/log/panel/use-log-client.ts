import { useEffect, useState } from "react";
import { useApp } from "../../app/app.js";
import { renewStream } from "../../session/renew-stream.js";
import { joinTabs } from "../../session/connection-share.js";
import { holdConnection } from "../../session/hold-connection.js";
import type { LogClient } from "../session/log-client.js";
import type { LogSource } from "../session/protocol.js";
import { startLog } from "../start-worker.js";

/** Follows a log while the component is there; undefined before the first effect. */
export function useLogClient({ project, domain, name, node, attempt, item, container }: LogSource): LogClient | undefined {
  const { session } = useApp();
  const [client, setClient] = useState<LogClient>();
  useEffect(() => {
    const log = startLog();
    const source = { project, domain, name, node, attempt, item, container };
    const connection = holdConnection({
      stream: { live: log.live, open: (isFollowed) => log.open(source, { origin: location.origin, isFollowed }), pause: () => log.pause() },
      join: joinTabs,
      isOpen: false,
    });
    const stopRenewing = renewStream(log, session, () => connection.open());
    setClient(log);
    return () => {
      stopRenewing();
      connection.end();
      log.close();
      setClient(undefined);
    };
  }, [session, project, domain, name, node, attempt, item, container]);
  return client;
}
