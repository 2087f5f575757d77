import type { WorkerScope } from "../node-table/session/worker-scope.js";
import { LogSession } from "./session/log-session.js";
import type { LogAnswer, LogRequest } from "./session/protocol.js";

// Entry of the worker that holds a log.
const scope = globalThis as unknown as WorkerScope<LogRequest, LogAnswer>;
const session = new LogSession({
  post: (answer) => scope.postMessage(answer, []),
  now: () => performance.now(),
  // A timer is set on the global scope: a browser refuses it on another object.
  schedule: (run, delayMs) => void setTimeout(run, delayMs),
});
scope.onmessage = ({ data }) => session.receive(data);
