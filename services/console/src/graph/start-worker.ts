import { connectGraph, type GraphClient } from "./graph-client.js";

/** Starts a worker that places graphs; a page closes it when it is left. */
export function startGraph(): GraphClient {
  // The bundler replaces this address by that of the worker's bundle.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  return connectGraph(worker as Parameters<typeof connectGraph>[0]);
}
