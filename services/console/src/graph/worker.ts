import { createRestClient } from "@flyte-ts/client/browser";
import type { WorkerScope } from "../node-table/session/worker-scope.js";
import type { GraphPageMessage, GraphWorkerMessage } from "./session/protocol.js";
import { GraphSession } from "./session/session.js";
import { readGraph } from "./wire/read-graph.js";

// Entry of the worker that places the graph of one workflow.
const scope = globalThis as unknown as WorkerScope<GraphPageMessage, GraphWorkerMessage>;
const session = new GraphSession({
  read: async (path, origin) => readGraph(await createRestClient({ origin }).bytes(path)),
  post: (message, moved) => scope.postMessage(message, moved),
  now: Date.now,
  schedule: (run, delayMs) => void setTimeout(run, delayMs),
});
scope.onmessage = ({ data }) => session.receive(data);
