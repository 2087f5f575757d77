import { connectLog, type LogClient } from "./session/log-client.js";
import workerUrl from "./worker.ts?worker&url";

/** Starts the worker that holds a log. */
export function startLog(): LogClient {
  const worker = new Worker(workerUrl, { type: "module", name: "log" });
  return connectLog(worker as Parameters<typeof connectLog>[0]);
}
