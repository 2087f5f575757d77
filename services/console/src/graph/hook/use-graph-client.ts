import { useEffect, useState } from "react";
import type { GraphClient } from "../graph-client.js";
import { startGraph } from "../start-worker.js";

/** Reads the graph at a path of admin's REST interface; undefined before the first effect. */
export function useGraphClient(path: string): GraphClient | undefined {
  const [client, setClient] = useState<GraphClient>();
  useEffect(() => {
    const graph = startGraph();
    graph.open(path, location.origin);
    setClient(graph);
    return () => {
      graph.close();
      setClient(undefined);
    };
  }, [path]);
  return client;
}
