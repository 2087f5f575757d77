import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { MemoryBudget } from "@flyte-ts/input-limits";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type TestCluster, testCluster } from "../../cluster.fixture.js";
import type { ApiError } from "../api-error.js";
import { BodyReader } from "./request-body.js";

describe("hostile bodies", () => {
  let k: TestCluster;
  beforeAll(async () => {
    k = await testCluster();
  });
  afterAll(() => k.stop());

  const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;

  test.each([
    ["JSON", "POST", "application/json", `{"metadata":{"name":"deep"},"data":${deep}}`],
    ["YAML", "POST", "application/yaml", `metadata: {name: deep}\ndata: ${deep}`],
    ["a merge patch", "PATCH", "application/merge-patch+json", `{"data":${deep}}`],
    ["an applied object", "PATCH", "application/apply-patch+yaml", `data: ${deep}`],
  ])("nested 20,000 levels deep in %s are a bad request", async (_, method, type, body) => {
    const path = method === "POST" ? CONFIG_MAPS : `${CONFIG_MAPS}/deep?fieldManager=test`;
    expect(await k.call(method, path, { type, body })).toMatchObject({ status: 400, body: { reason: "BadRequest" } });
  });

  test("in protobuf may contain bytes that look like brackets", async () => {
    // A Secret whose value consists of brackets: {metadata: {name: "s"}, data: {k: "[[[…"}}.
    const value = Buffer.alloc(600, "[");
    const entry = Buffer.concat([Buffer.from([0x0a, 1, 0x6b, 0x12, 0xd8, 0x04]), value]);
    const raw = Buffer.concat([Buffer.from([0x0a, 3, 0x0a, 1, 0x73, 0x12, 0xde, 0x04]), entry]);
    const type = Buffer.from([0x0a, 12, 0x0a, 2, 0x76, 0x31, 0x12, 6, ...Buffer.from("Secret")]);
    const body = Buffer.concat([Buffer.from("k8s\0"), type, Buffer.from([0x12, 0xe6, 0x04]), raw]);
    const response = await fetch(`http://127.0.0.1:${k.cluster.port}/api/v1/namespaces/default/secrets`, {
      method: "POST",
      headers: { "content-type": "application/vnd.kubernetes.protobuf" },
      body,
    });
    expect(await response.json()).toMatchObject({ kind: "Secret", data: { k: value.toString("base64") } });
  });

  test("with YAML aliases that multiply are a bad request", async () => {
    const lists = Array.from({ length: 12 }, (_, level) => `a${level + 1}: &a${level + 1} [${Array(10).fill(`*a${level}`).join(", ")}]`);
    const body = ["a0: &a0 x", ...lists].join("\n");
    expect(await k.call("POST", CONFIG_MAPS, { type: "application/yaml", body })).toMatchObject({ status: 400 });
  });
});

test("share a memory budget until they are answered", async () => {
  const reader = new BodyReader(1_000_000, new MemoryBudget(1_000_000));
  const held: ServerResponse[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    reader.read(request, response).then(
      () => held.push(response),
      (error: unknown) => response.writeHead((error as ApiError).code).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const send = () => fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method: "POST", body: "x".repeat(80_000) });
  const first = send();
  await expect.poll(() => held.length).toBe(1);
  expect((await send()).status).toBe(429);
  held[0]?.end();
  expect((await first).status).toBe(200);
  const again = send();
  await expect.poll(() => held.length).toBe(2);
  held[1]?.end();
  expect((await again).status).toBe(200);
  server.close();
});
