import workerUrl from "./worker.ts?worker&url";
import { connectNodeTable, type NodeTableClient } from "./node-table-client.js";

/** Starts the worker that holds the node table of an execution. */
export function startNodeTable(): NodeTableClient {
  const worker = new Worker(workerUrl, { type: "module", name: "node table" });
  return connectNodeTable(worker as Parameters<typeof connectNodeTable>[0]);
}
