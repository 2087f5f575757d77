import { expect, test } from "vitest";
import { connectGraph, type GraphWorker } from "./graph-client.js";
import type { GraphPageMessage } from "./session/protocol.js";

test("a graph that cannot be read is read again as it was opened", () => {
  const sent: GraphPageMessage[] = [];
  const worker: GraphWorker = { onmessage: null, postMessage: (message) => sent.push(message), terminate: () => undefined };
  const graph = connectGraph(worker);
  graph.retry();
  graph.open("p", "http://o");
  worker.onmessage?.({ data: { kind: "failed", node: "", code: 13, message: "broken" } });
  expect(graph.failure.get()).toEqual({ node: "", code: 13, message: "broken" });
  graph.retry();
  expect(graph.failure.get()).toBeUndefined();
  expect(sent).toEqual([0, 1].map(() => ({ kind: "open", path: "p", origin: "http://o" })));
});
