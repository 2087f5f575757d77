import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { connect } from "../client.js";

type Answers = (method: string, path: string, request: IncomingMessage) => object | number;
let server: Server | undefined;
afterEach(() => void server?.close());

/** Serves JSON as Go Flyte's gateway does: 404 for paths that it does not know. */
async function gateway(answers: Answers): Promise<string> {
  server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const answer = answers(request.method ?? "", new URL(request.url ?? "", "http://x").pathname, request);
    response.writeHead(typeof answer === "number" ? answer : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(typeof answer === "number" ? { code: answer === 404 ? 5 : 14, message: "Not Found" } : answer));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const EXECUTION = "/api/v1/executions/p/d/e1";
const NODES = "/api/v1/node_executions/p/d/e1";

test("an execution is followed on a server without streams", async () => {
  let calls = 0;
  const endpoint = await gateway((_method, path) => {
    if (path === NODES) return { node_executions: [{ id: { node_id: "n0" }, closure: { phase: calls < 3 ? "RUNNING" : "FAILED" } }] };
    if (path !== EXECUTION) return 404;
    calls++;
    const error = { code: "USER:Boom", message: "it broke", kind: "USER" };
    return { id: { name: "e1" }, closure: calls < 3 ? { phase: "RUNNING" } : { phase: "FAILED", error } };
  });
  const execution = connect({ endpoint, project: "p", domain: "d" }).untyped.execution("e1");
  const changes = [];
  for await (const { kind, phase } of execution.watch()) changes.push(`${kind} ${phase}`);
  expect(changes).toEqual(["node RUNNING", "execution RUNNING", "node FAILED", "execution FAILED"]);
  await expect(execution.wait()).rejects.toMatchObject({ kind: "USER", code: "USER:Boom", node: "n0", message: /it broke/ });
});

test("an execution that does not exist is reported without another request", async () => {
  const endpoint = await gateway(() => 404);
  await expect(connect({ endpoint }).untyped.execution("e1").wait()).rejects.toMatchObject({ name: "RestError", code: 5 });
});

test("a wait ends with its time while the execution goes on", async () => {
  const endpoint = await gateway((_method, path) => (path === EXECUTION ? { closure: { phase: "RUNNING" } } : 404));
  const execution = connect({ endpoint, project: "p", domain: "d" }).untyped.execution("e1");
  await expect(execution.wait({ timeoutMs: 100 })).rejects.toMatchObject({ name: "TimeoutError" });
});

test("calls are repeated after a transient failure, and a client signs in once", async () => {
  const [paths, tokens]: [string[], (string | undefined)[]] = [[], []];
  const endpoint = await gateway((method, path, request) => {
    paths.push(`${method} ${path}`);
    if (path === "/.well-known/oauth-authorization-server") return { token_endpoint: `${endpoint}/token` };
    if (path === "/config/v1/flyte_client") return { scopes: ["all"] };
    if (path === "/token") return { access_token: "issued", expires_in: 3600 };
    tokens.push(request.headers.authorization);
    return tokens.length === 1 ? 503 : { closure: { phase: "QUEUED" } };
  });
  const execution = connect({ endpoint, client: { id: "ci", secret: "s" } }).untyped.execution("e1");
  expect(await execution.phase()).toBe("QUEUED");
  expect(tokens).toEqual(["Bearer issued", "Bearer issued"]);
  expect(paths.filter((path) => path === "POST /token").length).toBe(1);
});
