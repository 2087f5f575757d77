import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { LiveService, WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { type StreamFrames, StreamFramesSchema } from "@flyte-ts/idl/flytets/admin/v1/stream_frames_pb";
import { StatusSchema } from "@flyte-ts/idl/google/rpc/status_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, expect, test } from "vitest";
import { Code, createRpcServer, EncodedMessage, implement, RpcError } from "../../index.js";

let wrote = 0;
let stopped = 0;

/** The name of the execution selects the behavior of its stream. */
const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  streamStallTimeoutMs: 200,
  services: [
    implement(AdminService, {
      getTask: ({ id }) => {
        if (id?.name === "missing") throw new RpcError(Code.NOT_FOUND, "no such task");
        return { shortDescription: "short" };
      },
    }),
    implement(LiveService, {
      async *watchExecution({ id }, { signal }) {
        const named = (cursor: string) => create(WatchExecutionResponseSchema, { cursor });
        switch (id?.name) {
          case "missing":
            throw new RpcError(Code.NOT_FOUND, "no such execution");
          case "silent":
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
            return;
          case "over":
            return;
          case "fails":
            yield named("1");
            throw new RpcError(Code.UNAVAILABLE, "another replica serves the stream");
          case "flood":
            try {
              while (++wrote > 0) yield named("x".repeat(65_536));
            } finally {
              stopped++;
            }
            return;
          default:
            yield new EncodedMessage(WatchExecutionResponseSchema, toBinary(WatchExecutionResponseSchema, named("a")));
            yield named("");
            yield named("b".repeat(300));
        }
      },
    }),
  ],
});
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => server.drain({ deadlineMs: 100 }));

const accept = "application/x-flyte-ts-frames";
const urlOf = (name: string) => `http://127.0.0.1:${port}/api/v1/watch/executions/p/d/${name}`;
const bytesOf = async (answer: Response) => new Uint8Array(await answer.arrayBuffer());
async function framesOf(name: string): Promise<StreamFrames> {
  const answer = await fetch(urlOf(name), { headers: { accept } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, accept]);
  return fromBinary(StreamFramesSchema, await bytesOf(answer));
}
const cursorsOf = ({ messages }: StreamFrames) => messages.map((bytes) => fromBinary(WatchExecutionResponseSchema, bytes).cursor);

test("the body has a frame for each message, also for an empty one, and an end with code 0", async () => {
  const frames = await framesOf("e");
  expect([cursorsOf(frames), frames.end?.code]).toEqual([["a", "", "b".repeat(300)], 0]);
});

test("each frame begins with the byte of its kind and its length as a varint", async () => {
  const body = Buffer.from(await bytesOf(await fetch(urlOf("e"), { headers: { accept: `${accept}, */*` } })));
  expect(body.subarray(0, 7).toString("hex")).toBe("0a030a01610a00");
  expect(body.subarray(7, 10).toString("hex")).toBe("0aaf02");
  expect(body.subarray(-2).toString("hex")).toBe("1200");
});

test("a stream without messages is an end alone", async () => {
  expect(await framesOf("over")).toMatchObject({ messages: [], end: { code: 0 } });
});

test("a failure before the first message is an HTTP status, and a later one the last frame", async () => {
  const missing = await fetch(urlOf("missing"), { headers: { accept } });
  expect([missing.status, fromBinary(StatusSchema, await bytesOf(missing))]).toMatchObject([
    404,
    { code: 5, message: "no such execution" },
  ]);
  const frames = await framesOf("fails");
  expect([cursorsOf(frames), frames.end]).toMatchObject([["1"], { code: 14, message: "another replica serves the stream" }]);
});

test("the headers of a stream without messages are sent at once", async () => {
  const closed = new AbortController();
  // The first keepalive would deliver the headers too, but only after 15 s.
  const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(12_000)]);
  const answer = await fetch(urlOf("silent"), { headers: { accept }, signal });
  expect(answer.status).toBe(200);
  closed.abort();
});

test("unary calls answer one message without a frame", async () => {
  const taskOf = (name: string) => fetch(`http://127.0.0.1:${port}/api/v1/tasks/p/d/${name}/v`, { headers: { accept } });
  const answer = await taskOf("t");
  expect(answer.headers.get("content-type")).toBe("application/octet-stream");
  expect(fromBinary(TaskSchema, await bytesOf(answer)).shortDescription).toBe("short");
  const missing = await taskOf("missing");
  expect([missing.status, fromBinary(StatusSchema, await bytesOf(missing)).message]).toEqual([404, "no such task"]);
});

test("a client that does not read stops the messages, and its body is cut off without an end", async () => {
  const body = await new Promise<Buffer>((resolve, reject) => {
    const sent = request(urlOf("flood"), { headers: { accept } }, (response) => {
      response.pause();
      void delay(800).then(() => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("close", () => resolve(Buffer.concat(parts)));
        response.on("error", () => undefined);
        response.resume();
      });
    });
    sent.on("error", reject);
    sent.end();
  });
  expect(stopped).toBe(1);
  expect(wrote).toBeLessThan(500);
  expect(body.length).toBeLessThan(wrote * 65_550);
  expect(body.includes("the client read nothing")).toBe(false);
});
