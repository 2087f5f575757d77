import { connectGraph, type GraphClient, type GraphWorker } from "./graph-client.js";
import type { GraphWorkerMessage } from "./session/protocol.js";

/** Starts a worker that places graphs; a page closes it when it is left. */
export function startGraph(): GraphClient {
  // The bundler replaces this address by that of the worker's bundle.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const port: GraphWorker = {
    onmessage: null,
    postMessage: (message, moved) => worker.postMessage(message, moved),
    terminate: () => worker.terminate(),
  };
  worker.onmessage = ({ data }: MessageEvent<GraphWorkerMessage>) => port.onmessage?.({ data });
  return connectGraph(port);
}
