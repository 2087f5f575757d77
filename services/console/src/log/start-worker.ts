import { connectLog, type LogClient } from "./session/log-client.js";

/** Starts the worker that holds a log. */
export function startLog(): LogClient {
  // The bundler replaces this address by that of the worker's bundle.
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  return connectLog(worker as Parameters<typeof connectLog>[0]);
}
