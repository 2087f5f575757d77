import type { PageMessage, WorkerMessage } from "./session/protocol.js";
import { createOutbox } from "./session/outbox.js";
import { createReadStream } from "./session/read-stream.js";
import { TableSession } from "./session/session.js";
import type { WorkerScope } from "./session/worker-scope.js";

// Entry of the worker that holds the node table of one execution.
const scope = globalThis as unknown as WorkerScope<PageMessage, readonly WorkerMessage[]>;
const session = new TableSession({
  read: createReadStream(),
  post: createOutbox((messages, moved) => scope.postMessage(messages, moved)),
  now: Date.now,
  // A timer is set on the global scope: a browser refuses it on another object.
  schedule: (run, delayMs) => void setTimeout(run, delayMs),
});
scope.onmessage = ({ data }) => session.receive(data);
