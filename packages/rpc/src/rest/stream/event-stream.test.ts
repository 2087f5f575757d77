import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { LiveService, type WatchExecutionRequest, WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, expect, test } from "vitest";
import { Code, createClient, createRpcServer, EncodedMessage, implement, openChannel, RpcError } from "../../index.js";

const asked: WatchExecutionRequest[] = [];
let wrote = 0;
let stopped = 0;

/** The name of the execution selects the behavior of its stream. */
const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  streamStallTimeoutMs: 200,
  services: [
    implement(LiveService, {
      async *watchExecution(request, { signal }) {
        asked.push(request);
        const encoded = (cursor: string) =>
          new EncodedMessage(
            WatchExecutionResponseSchema,
            toBinary(WatchExecutionResponseSchema, create(WatchExecutionResponseSchema, { cursor })),
          );
        switch (request.id?.name) {
          case "missing":
            throw new RpcError(Code.NOT_FOUND, "no such execution");
          case "silent":
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
            break;
          case "over":
            return;
          case "fails":
            yield { cursor: "1" };
            throw new RpcError(Code.UNAVAILABLE, "another replica serves the stream");
          case "flood":
            try {
              while (++wrote > 0) yield { cursor: "x".repeat(65_536) };
            } finally {
              stopped++;
            }
            break;
          default:
            yield encoded("a");
            yield { cursor: "b", complete: true };
        }
      },
    }),
  ],
});
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
const channel = openChannel({ endpoint: `127.0.0.1:${port}` });
const live = createClient({ channel, service: LiveService });
afterAll(async () => {
  channel.close();
  await server.drain({ deadlineMs: 100 });
});

const urlOf = (name: string) => `http://127.0.0.1:${port}/api/v1/watch/executions/p/d/${name}`;
const events = (name: string, headers: Record<string, string> = {}, query = "") =>
  fetch(`${urlOf(name)}${query}`, { headers: { accept: "text/event-stream", ...headers } });

test("messages are server-sent events whose ids are cursors, and the last event marks the end", async () => {
  const answer = await events("e");
  expect([answer.status, answer.headers.get("content-type"), answer.headers.get("cache-control")]).toEqual([
    200,
    "text/event-stream",
    "no-cache",
  ]);
  const [retry, first, second, end, rest] = (await answer.text()).split("\n\n");
  expect([retry, end, rest]).toEqual(["retry: 1000", "event: end\ndata: {}", ""]);
  expect([first, second].map((frame) => frame?.split("\n")[0])).toEqual(["id: a", "id: b"]);
  expect(JSON.parse(second?.split("\ndata: ")[1] ?? "")).toMatchObject({ cursor: "b", complete: true });
});

test("messages are JSON lines unless the client accepts server-sent events", async () => {
  const lines = (await (await fetch(urlOf("e"))).text()).trim().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { result: { cursor: string } }).result.cursor)).toEqual(["a", "b"]);
});

test("Last-Event-ID takes precedence over the cursor in the URL", async () => {
  asked.length = 0;
  await (await events("e", {}, "?cursor=old")).text();
  await (await events("e", { "last-event-id": "new" }, "?cursor=old")).text();
  await (await fetch(`${urlOf("e")}?cursor=old`, { headers: { "last-event-id": "new" } })).text();
  expect(asked.map(({ cursor }) => cursor)).toEqual(["old", "new", "old"]);
});

test("a stream without further messages is answered with 204, on which EventSource stops", async () => {
  expect((await events("over")).status).toBe(204);
});

test("a failure before the first event is an HTTP status, and a later one an event", async () => {
  const missing = await events("missing");
  expect([missing.status, await missing.json()]).toMatchObject([404, { message: "no such execution" }]);
  const text = await (await events("fails")).text();
  expect(text).toContain("id: 1\ndata: ");
  expect(text).toContain('event: failed\ndata: {"code":14,"message":"another replica serves the stream"');
  expect(text).not.toContain("event: end");
});

test("the headers of a stream without messages are sent at once", async () => {
  const closed = new AbortController();
  const answer = await fetch(urlOf("silent"), { headers: { accept: "text/event-stream" }, signal: closed.signal });
  expect(answer.status).toBe(200);
  closed.abort();
});

test("a client that does not read is disconnected, and its stream ends", async () => {
  [wrote, stopped] = [0, 0];
  const cut = await new Promise<string>((resolve, reject) => {
    const sent = request(urlOf("flood"), { headers: { accept: "text/event-stream" } }, (response) => {
      // Reads nothing, not even the first bytes.
      response.pause();
      void delay(800).then(() => {
        let text = "";
        response.on("data", (chunk: Buffer) => (text = (text + chunk.toString()).slice(-300)));
        response.on("close", () => resolve(text));
        response.on("error", () => undefined);
        response.resume();
      });
    });
    sent.on("error", reject);
    sent.end();
  });
  expect(stopped).toBe(1);
  expect(wrote).toBeLessThan(500);
  expect(cut).not.toContain("event: end");
});

test("over gRPC, the failure is the status after the messages in transit", async () => {
  [wrote, stopped] = [0, 0];
  const seen: string[] = [];
  const reading = async () => {
    for await (const { cursor } of live.watchExecution({ id: { project: "p", domain: "d", name: "flood" } })) {
      if (seen.length === 0) await delay(800);
      seen.push(cursor);
    }
  };
  await expect(reading()).rejects.toMatchObject({ code: Code.RESOURCE_EXHAUSTED, message: expect.stringMatching(/may resume/) });
  expect(stopped).toBe(1);
  expect(seen.length).toBe(wrote);
});
