import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { createKubeClient, isTransient, wasNotApplied, type KubeClient, NAMESPACES } from "../index.js";

const { signal } = new AbortController();

/** Consumes the stream. */
async function all(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of stream);
}

describe("against a stub server", () => {
  const folder = mkdtempSync(join(tmpdir(), "cut-answers-"));
  let server: Server;
  let client: KubeClient;
  let answer: (response: ServerResponse, asked: URLSearchParams) => void;
  beforeAll(async () => {
    server = createServer(({ url = "" }, response) => answer(response, new URL(url, "http://here").searchParams));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const cluster = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    const contexts = [{ name: "here", context: { cluster: "c", user: "u" } }];
    const content = { "current-context": "here", contexts, clusters: [{ name: "c", cluster }], users: [{ name: "u", user: {} }] };
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, stringify(content));
    client = await createKubeClient({ kubeconfig });
  });
  afterAll(async () => {
    await client.close();
    server.close();
    rmSync(folder, { recursive: true });
  });

  test("a list joins its pages, and a limited list is one request", async () => {
    const asked: string[] = [];
    answer = (response, query) => {
      const [from, most] = [Number(query.get("continue") ?? 0), Number(query.get("limit"))];
      asked.push(`${most} from ${from}`);
      const items = Array.from({ length: Math.min(most, 1_200 - from) }, (_, index) => ({ metadata: { name: `ns${from + index}` } }));
      const rest = from + most < 1_200 ? { continue: String(from + most) } : {};
      response.end(JSON.stringify({ metadata: { resourceVersion: "7", ...rest }, items }));
    };
    expect((await client.list(NAMESPACES)).items).toHaveLength(1_200);
    expect((await client.list(NAMESPACES, { maxItems: 1 })).items).toHaveLength(1);
    expect(asked).toEqual(["500 from 0", "500 from 500", "500 from 1000", "1 from 0"]);
  });

  test("requests in sequence share a connection, also deletions, which have a body", async () => {
    let connections = 0;
    const count = () => connections++;
    server.on("connection", count);
    answer = (response) => response.end("{}");
    for (let call = 0; call < 5; call++) {
      expect(await client.delete(NAMESPACES, { name: "a" })).toBe(true);
      await client.get(NAMESPACES, { name: "a" });
    }
    server.off("connection", count);
    expect(connections).toBeLessThanOrEqual(1);
  });

  const status = (details?: object) =>
    JSON.stringify({ kind: "Status", status: "Failure", reason: "NotFound", message: "not found", code: 404, details });
  test("an object is missing only if the API server says so of this object", async () => {
    answer = (response) => response.writeHead(404).end(status({ name: "a", kind: "namespaces" }));
    expect(await client.get(NAMESPACES, { name: "a" })).toBeUndefined();
    expect(await client.delete(NAMESPACES, { name: "a" })).toBe(false);
  });

  test.each([
    ["a proxy", "<html>no such route</html>"],
    ["an API server without the type, as text", "404 page not found"],
    ["an API server without the type, as a Status", status({})],
    ["an API server without the type, as a Status without details", status()],
  ])("a 404 of %s is an error, not the absence of an object", async (_, body) => {
    answer = (response) => response.writeHead(404).end(body);
    for (const call of [client.get(NAMESPACES, { name: "a" }), client.delete(NAMESPACES, { name: "a" })]) {
      await expect(call).rejects.toMatchObject({ name: "KubeError", status: 404 });
    }
  });

  const calls: readonly { readonly what: string; readonly call: () => Promise<unknown> }[] = [
    { what: "get", call: () => client.get(NAMESPACES, { name: "a" }) },
    { what: "list", call: () => client.list(NAMESPACES) },
    { what: "create", call: () => client.create(NAMESPACES, { metadata: { name: "a" } }) },
    { what: "delete", call: () => client.delete(NAMESPACES, { name: "a" }) },
    { what: "watch", call: () => all(client.watch(NAMESPACES, { resourceVersion: "1", signal })) },
    { what: "podLog", call: () => all(client.podLog({ namespace: "a", name: "b", container: "c", follow: true, signal })) },
  ];

  test.each(calls)("$what: a truncated response is retryable, and the request may have changed the object", async ({ call }) => {
    answer = (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
      response.write('{"metadata":', () => response.destroy());
    };
    const error = await call().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "KubeError", status: 0 });
    expect(isTransient(error)).toBe(true);
    expect(wasNotApplied(error)).toBe(false);
  });

  test("a response that is not JSON is an error of an intermediary", async () => {
    answer = (response) => response.end("<html>starting</html>");
    const error = await client.get(NAMESPACES, { name: "a" }).catch((thrown: unknown) => thrown);
    expect(isTransient(error)).toBe(true);
    expect(error).toMatchObject({ message: expect.stringContaining("GET /api/v1/namespaces/a") });
  });
});
