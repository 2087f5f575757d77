import { parentPort } from "node:worker_threads";
import { compileInSteps, type Reply, type Step } from "./steps.js";

// The thread that compiles large workflows; see compile-thread.ts.
if (parentPort === null) throw new Error("this is the main module of a worker thread");
const port = parentPort;
const take = compileInSteps();
port.on("message", (step: Step) => {
  let reply: Reply;
  try {
    reply = take(step);
  } catch (error) {
    // What the compiler throws is a fault of its own; the next workflow may be compiled all the same.
    reply = { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  // The closure changes hands and is not copied: it has a buffer of its own.
  port.postMessage(reply, "outcome" in reply && reply.outcome.ok ? [reply.outcome.workflow.bytes.buffer as ArrayBuffer] : []);
});
