import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, expect, test } from "vitest";
import { Code, createRpcServer, implement, RpcError } from "../index.js";
import { isNotModified } from "./entity-tag.js";

let allowed = true;
const service = implement(AdminService, {
  getTask: ({ id }) => {
    if (!allowed) throw new RpcError(Code.PERMISSION_DENIED, "no");
    return { id, shortDescription: "x".repeat(2_000) };
  },
  getWorkflow: () => ({}),
  createTask: () => ({}),
});
const server = createRpcServer({
  logger: createLogger({ service: "test", level: "silent" }),
  services: [{ ...service, entityTag: (method) => (method.name === "GetWorkflow" ? undefined : "t1") }],
});
const { port } = await server.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => server.drain({ deadlineMs: 100 }));

const get = (headers: Record<string, string> = {}, path = "tasks/p/d/n/v") => fetch(`http://127.0.0.1:${port}/api/v1/${path}`, { headers });

test("an answer that never changes has a tag for each format, and 304 answers a client that has it", async () => {
  const first = await get();
  const tag = first.headers.get("etag") ?? "";
  expect([first.status, tag, first.headers.get("cache-control")]).toEqual([200, 'W/"t1.j"', "private, no-cache"]);
  expect(first.headers.get("vary")).toBe("Accept, Accept-Encoding");
  const again = await get({ "if-none-match": tag });
  expect([again.status, again.headers.get("etag"), again.headers.get("vary"), await again.text()]).toEqual([
    304,
    tag,
    "Accept, Accept-Encoding",
    "",
  ]);
  expect(again.headers.get("content-encoding")).toBeNull();
  expect((await get({ "if-none-match": tag, accept: "application/octet-stream" })).status).toBe(200);
  expect((await get({ "if-none-match": tag, accept: "application/json" })).headers.get("etag")).toBe('W/"t1.n"');
});

test("an answer that may change has no tag", async () => {
  const answer = await get({ "if-none-match": "*" }, "workflows/p/d/n/v");
  expect([answer.status, answer.headers.get("etag"), answer.headers.get("cache-control")]).toEqual([200, null, null]);
});

test("an answer to a change has no tag", async () => {
  const headers = { "content-type": "application/json", "if-none-match": "*" };
  const answer = await fetch(`http://127.0.0.1:${port}/api/v1/tasks`, { method: "POST", headers, body: "{}" });
  expect([answer.status, answer.headers.get("etag")]).toEqual([200, null]);
});

test("a caller without permission gets no 304", async () => {
  allowed = false;
  const answer = await get({ "if-none-match": 'W/"t1.j"' });
  expect([answer.status, answer.headers.get("etag")]).toEqual([403, null]);
  allowed = true;
});

test.each([
  ['W/"a"', true],
  ['"a"', true],
  ['"b", W/"a"', true],
  ["*", true],
  ['"b"', false],
  ["a", false],
  ["", false],
])("If-None-Match %s", (header, known) => {
  expect(isNotModified({ method: "GET", headers: { "if-none-match": header } }, 'W/"a"')).toBe(known);
  expect(isNotModified({ method: "POST", headers: { "if-none-match": header } }, 'W/"a"')).toBe(false);
});
