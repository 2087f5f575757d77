import { parentPort } from "node:worker_threads";
import { compileInSteps, type WorkerResponse, type WorkerRequest } from "./steps.js";

// Worker thread that compiles large workflows; see compiler-worker.ts.
if (parentPort === null) throw new Error("must run in a worker thread");
const port = parentPort;
const take = compileInSteps();
port.on("message", (step: WorkerRequest) => {
  let reply: WorkerResponse;
  try {
    reply = take(step);
  } catch (error) {
    // An exception is a bug of the compiler; the next workflow may still compile.
    reply = { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  // Transfers the closure, which has its own buffer, without a copy.
  port.postMessage(reply, "outcome" in reply && reply.outcome.ok ? [reply.outcome.workflow.bytes.buffer as ArrayBuffer] : []);
});
