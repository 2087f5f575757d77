import { connectNodeTable, type NodeTableClient } from "./node-table-client.js";

/** Starts a worker that reads node tables; a page closes it when it is left. */
export function startNodeTable(): NodeTableClient {
  // The bundler replaces this address by that of the worker's bundle.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  return connectNodeTable(worker as Parameters<typeof connectNodeTable>[0]);
}
