import { DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fromBinary } from "@bufbuild/protobuf";
import { TaskSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { LiveService, WatchExecutionResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { Code, createRpcServer, implement, RpcError } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, expect, test } from "vitest";
import { createRestClient, pathOf, RestError, resumeStream } from "./browser-client.js";

const opened: string[] = [];
const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  services: [
    implement(AdminService, {
      getTask: ({ id }) => {
        if (id?.name === "missing") throw new RpcError(Code.NOT_FOUND, "no such task");
        return { shortDescription: `${id?.project} ${id?.name}` };
      },
      createExecution: ({ name }) => ({ id: { name } }),
      listExecutions: ({ limit, filters }) => ({ token: `${limit} ${filters}` }),
    }),
    implement(DataProxyService, { createUploadLocation: ({ filenameRoot }) => ({ signedUrl: `http://blobs/${filenameRoot}` }) }),
    implement(LiveService, {
      async *watchExecution({ id, cursor }, { signal }) {
        opened.push(cursor);
        if (id?.name === "missing") throw new RpcError(Code.NOT_FOUND, "no such execution");
        yield { cursor: `${cursor}a` };
        if (id?.name === "open") await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        if (cursor.length < 2) throw new RpcError(Code.UNAVAILABLE, "another replica serves the stream");
        yield { cursor: `${cursor}b`, ended: true };
      },
    }),
  ],
});
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => server.drain({ deadlineMs: 100 }));

const client = createRestClient({ origin: `http://127.0.0.1:${port}` });
const watch = (name: string) => pathOf("api/v1/watch/executions", "p", "d", name);

test("calls send parameters and JSON and return JSON", async () => {
  expect(await client.call(pathOf("api/v1/tasks", "p", "d", "a b", "v"))).toMatchObject({ shortDescription: "p a b" });
  expect(await client.call("/api/v1/executions", { method: "POST", body: { name: "n" } })).toMatchObject({ id: { name: "n" } });
  const query = { limit: 3, filters: "eq(a,b)", token: undefined };
  expect(await client.call(pathOf("api/v1/executions", "p", "d"), { query })).toMatchObject({ token: "3 eq(a,b)" });
});

test("an answer can be read as the encoded message", async () => {
  const bytes = await client.bytes(pathOf("api/v1/tasks", "p", "d", "a", "v"));
  expect(fromBinary(TaskSchema, bytes).shortDescription).toBe("p a");
  await expect(client.bytes(pathOf("api/v1/tasks", "p", "d", "missing", "v"))).rejects.toMatchObject({ code: 5, message: "no such task" });
});

test("the answer to a call with a body has lowerCamelCase names", async () => {
  const answer = await client.call("/api/v1/dataproxy/artifact_urn", { method: "POST", body: { filenameRoot: "r" } });
  expect(answer).toMatchObject({ signedUrl: "http://blobs/r" });
});

test("a failed call is a RestError with its gRPC code", async () => {
  const failed = client.call(pathOf("api/v1/tasks", "p", "d", "missing", "v"));
  await expect(failed).rejects.toBeInstanceOf(RestError);
  await expect(failed).rejects.toMatchObject({ code: 5, message: "no such task", httpStatus: 404, isTransient: false });
  const missing = client.stream(watch("missing")).next();
  await expect(missing).rejects.toMatchObject({ code: 5, message: "no such execution", httpStatus: 404 });
});

test("a server that cannot be reached, or a proxy's error, is transient", async () => {
  const proxy = createServer((_, response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>bad gateway</h1>"));
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const through = createRestClient({ origin: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
  await expect(through.call("/x")).rejects.toMatchObject({ code: 14, message: "HTTP 502", isTransient: true });
  await new Promise((resolve) => proxy.close(resolve));
  await expect(through.call("/x")).rejects.toMatchObject({ code: 14, httpStatus: 0, isTransient: true });
});

test("a stream resumes at its cursor until it ends", async () => {
  opened.length = 0;
  const cursors: string[] = [];
  const stream = resumeStream({
    signal: new AbortController().signal,
    sleep: () => Promise.resolve(),
    open: async function* (cursor, signal) {
      for await (const bytes of client.stream(watch("e"), { query: { cursor }, signal })) {
        const message = fromBinary(WatchExecutionResponseSchema, bytes);
        yield { message, cursor: message.cursor };
      }
    },
  });
  for await (const { cursor } of stream) cursors.push(cursor);
  expect([opened, cursors]).toEqual([
    ["", "a", "aa"],
    ["a", "aa", "aaa", "aab"],
  ]);
});

test("an aborted stream throws the reason of its signal", async () => {
  const controller = new AbortController();
  const stream = client.stream(watch("open"), { signal: controller.signal });
  expect((await stream.next()).done).toBe(false);
  controller.abort(new Error("left the page"));
  await expect(stream.next()).rejects.toThrow("left the page");
});

test("no module for browsers imports a module of Node.js or another package", () => {
  const folder = new URL(".", import.meta.url);
  const modules = readdirSync(folder).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  for (const name of modules) {
    const imported = [...readFileSync(new URL(name, folder), "utf8").matchAll(/from "([^"]+)"/g)].map(([, path]) => path);
    expect(imported.filter((path) => path?.startsWith("./") !== true)).toEqual([]);
  }
});
