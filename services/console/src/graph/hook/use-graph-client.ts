import { useEffect, useState } from "react";
import { useApp } from "../../app/app.js";
import { renewStream } from "../../session/renew-stream.js";
import type { GraphClient } from "../graph-client.js";
import { startGraph } from "../start-worker.js";

/** Reads the graph at a path of admin's REST interface; undefined before the first effect. */
export function useGraphClient(path: string): GraphClient | undefined {
  const { session } = useApp();
  const [client, setClient] = useState<GraphClient>();
  useEffect(() => {
    const graph = startGraph();
    graph.open(path, location.origin);
    setClient(graph);
    const { shown, failure } = graph;
    const live = { get: () => (shown.get() === undefined ? undefined : { kind: "live" }), subscribe: shown.subscribe };
    const stopRenewing = renewStream({ live, failure }, session, () => graph.retry());
    return () => {
      stopRenewing();
      graph.close();
      setClient(undefined);
    };
  }, [path, session]);
  return client;
}
