import { parentPort } from "node:worker_threads";
import { compileToBytes } from "./compile-to-bytes.js";
import { decodeSource, type EncodedSource } from "./encoded-source.js";
import type { Reply } from "./compile-thread.js";

// The thread that compiles large workflows; see compile-thread.ts.
if (parentPort === null) throw new Error("this is the main module of a worker thread");
const port = parentPort;
port.on("message", (source: EncodedSource) => {
  let reply: Reply;
  try {
    reply = { outcome: compileToBytes(decodeSource(source)) };
  } catch (error) {
    // What the compiler throws is a fault of its own; the next workflow may be compiled all the same.
    reply = { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
  port.postMessage(reply);
});
