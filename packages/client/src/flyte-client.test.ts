import { createLogger } from "@flyte-ts/telemetry";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { createRpcServer, implement, type RpcServer } from "@flyte-ts/rpc";
import { afterEach, expect, test } from "vitest";
import { Code, createFlyteClient, RpcError, type FlyteClient } from "./index.js";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

async function serve(port = 0): Promise<{ server: RpcServer; port: number }> {
  const server = createRpcServer({
    logger: createLogger({ service: "test", level: "silent" }),
    services: [
      implement(AdminService, {
        getTask: ({ id }, { metadata }) => {
          if (id?.name === "huge") return { shortDescription: "x".repeat(30_000_000) };
          if (id?.name === "missing") throw new RpcError(Code.NOT_FOUND, "no such task");
          return { shortDescription: metadata.get("authorization") ?? "" };
        },
      }),
    ],
  });
  const address = await server.listen({ host: "127.0.0.1", port });
  open.push({ close: () => server.drain({ deadlineMs: 100 }) });
  return { server, port: address.port };
}

function client(endpoint: string, token?: () => Promise<string>): FlyteClient {
  const made = createFlyteClient({ endpoint, ...(token && { metadata: async () => ({ authorization: await token() }) }) });
  open.push(made);
  return made;
}

test("calls carry fresh metadata, responses may be large, failures are RpcErrors", async () => {
  const { port } = await serve();
  let count = 0;
  const { admin } = client(`http://127.0.0.1:${port}`, () => Promise.resolve(`token ${++count}`));
  expect((await admin.getTask({})).shortDescription).toBe("token 1");
  expect((await admin.getTask({})).shortDescription).toBe("token 2");
  expect((await admin.getTask({ id: { name: "huge" } })).shortDescription).toHaveLength(30_000_000);
  await expect(admin.getTask({ id: { name: "missing" } })).rejects.toMatchObject({
    name: "RpcError",
    code: Code.NOT_FOUND,
    message: "no such task",
  });
});

test("an unreachable endpoint is UNAVAILABLE, and a later server is found", async () => {
  const { server, port } = await serve();
  await server.drain();
  const flyte = client(`127.0.0.1:${port}`);
  await expect(flyte.ready(50)).rejects.toMatchObject({ code: Code.UNAVAILABLE });
  await expect(flyte.admin.getTask({})).rejects.toMatchObject({ code: Code.UNAVAILABLE });
  await serve(port);
  await flyte.ready(10_000);
  expect(await flyte.admin.getTask({})).toBeDefined();
});

test.each(["localhost", "ftp://h:1", "h:1/path", ""])("endpoint %j is refused with the reason", (endpoint) => {
  expect(() => createFlyteClient({ endpoint })).toThrow(/host:port/);
});
