import { connectNodeTable, type NodeTableClient, type NodeTableWorker } from "./node-table-client.js";
import type { WorkerMessage } from "./session/protocol.js";

/** Starts a worker that reads node tables; a page closes it when it is left. */
export function startNodeTable(): NodeTableClient {
  // The bundler replaces this address by that of the worker's bundle.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const port: NodeTableWorker = {
    onmessage: null,
    postMessage: (message) => worker.postMessage(message),
    terminate: () => worker.terminate(),
  };
  worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => port.onmessage?.({ data });
  return connectNodeTable(port);
}
