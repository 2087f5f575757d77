import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { connect } from "node:net";
import { create, toBinary } from "@bufbuild/protobuf";
import { WatchExecutionRequestSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { framed } from "../rate/connection.js";

export interface WatchedName {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
}

/**
 * Called for each message; the argument tells whether it contains the state of the execution
 * itself.
 */
export type OnMessage = (tellsExecution: boolean) => void;

export interface Watcher {
  /** Resolves when the stream has ended normally; rejects when it broke. */
  readonly ended: Promise<void>;
  close(): void;
}

const PATH = "/flytets.admin.v1.LiveService/WatchExecution";
/** Tag of field 3: a message begins with its rows, the execution first. */
const EXECUTION_TAG = 0x1a;

/** Minimal streams over one HTTP/2 connection: messages are counted and not decoded. */
export class GrpcWatches {
  readonly #session: ClientHttp2Session;

  constructor(endpoint: string) {
    this.#session = connectHttp2(`http://${endpoint}`, { settings: { enablePush: false } });
    // Ignore errors of the session: each stream fails when it ends.
    this.#session.on("error", () => undefined);
    this.#session.setMaxListeners(0);
  }

  open(id: WatchedName, onMessage: OnMessage): Watcher {
    const stream = this.#session.request({ ":method": "POST", ":path": PATH, "content-type": "application/grpc", te: "trailers" });
    let rest: Buffer = Buffer.alloc(0);
    let status: string | undefined;
    const ended = new Promise<void>((resolve, reject) => {
      stream.on("data", (chunk: Buffer) => {
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        for (let size = sizeOf(rest); size <= rest.length; size = sizeOf(rest)) {
          onMessage(rest[5] === EXECUTION_TAG);
          rest = rest.subarray(size);
        }
      });
      const read = (headers: Record<string, unknown>): void => {
        status = headers["grpc-status"]?.toString() ?? status;
      };
      stream.on("response", read);
      stream.on("trailers", read);
      stream.on("error", reject);
      stream.on("close", () => (status === "0" ? resolve() : reject(new Error(`the stream ended with status ${String(status)}`))));
    });
    stream.end(framed(toBinary(WatchExecutionRequestSchema, create(WatchExecutionRequestSchema, { id }))));
    return { ended, close: () => stream.close() };
  }

  close(): void {
    this.#session.destroy();
  }
}

/** Size of the first frame, or Infinity while its header is incomplete. */
function sizeOf(bytes: Buffer): number {
  return bytes.length < 5 ? Number.POSITIVE_INFINITY : 5 + bytes.readUInt32BE(1);
}

/** Opens server-sent events on a separate connection, as a browser does. */
export function openEvents(endpoint: string, { project, domain, name }: WatchedName, onMessage: OnMessage): Watcher {
  const [host = "", port = ""] = endpoint.split(":");
  const socket = connect({ host, port: Number(port) });
  const path = `/api/v1/watch/executions/${project}/${domain}/${name}`;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${endpoint}\r\nAccept: text/event-stream\r\n\r\n`);
  let rest = "";
  let over = false;
  const ended = new Promise<void>((resolve, reject) => {
    socket.on("data", (chunk: Buffer) => {
      const frames = (rest + chunk.toString("latin1")).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        if (frame.includes("event: end")) {
          over = true;
          socket.end();
        } else if (frame.includes("id: ")) onMessage(frame.includes('"execution":{'));
      }
    });
    socket.on("error", reject);
    socket.on("close", () => (over ? resolve() : reject(new Error("the connection closed before the end"))));
  });
  return { ended, close: () => socket.destroy() };
}
