import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { Code, createClient, createRpcServer, implement, type RpcServer, type ServiceClient } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, expect, test } from "vitest";
import { adminConfigSchema } from "../config.js";
import { openChannel } from "@flyte-ts/rpc";
import { agentRpcs } from "./agents-rpc.js";

const logger = createLogger({ service: "test", level: "silent" });
const servers: RpcServer[] = [];
const channels: { close(): void }[] = [];
const dead = "127.0.0.1:1";

async function serve(implementation: Parameters<typeof implement<typeof AgentMetadataService>>[1]): Promise<string> {
  const server = createRpcServer({ logger, services: [implement(AgentMetadataService, implementation)] });
  servers.push(server);
  return `127.0.0.1:${(await server.listen({ host: "127.0.0.1", port: 0 })).port}`;
}

async function adminOf(endpoints: readonly string[]): Promise<ServiceClient<typeof AgentMetadataService>> {
  const config = adminConfigSchema.parse({ agents: { endpoints, timeoutMs: 2_000 } });
  const channel = openChannel({ endpoint: await serve(agentRpcs({ config, logger })) });
  channels.push(channel);
  return createClient({ channel, service: AgentMetadataService });
}

let first: string;
let second: string;
beforeAll(async () => {
  const category = { name: "query", version: 1 };
  first = await serve({
    listAgents: () => ({
      agents: [
        { name: "b", isSync: true },
        { name: "a", supportedTaskCategories: [category] },
      ],
    }),
  });
  second = await serve({ listAgents: () => ({ agents: [{ name: "b" }, { name: "c" }] }) });
});
afterAll(async () => {
  for (const channel of channels) channel.close();
  await Promise.all(servers.map((server) => server.drain({ deadlineMs: 100 })));
});

test("the agents of all connectors are listed, each name once", async () => {
  const admin = await adminOf([first, second]);
  expect((await admin.listAgents({})).agents.map(({ name, isSync }) => [name, isSync])).toEqual([
    ["a", false],
    ["b", true],
    ["c", false],
  ]);
  expect((await admin.getAgent({ name: "a" })).agent?.supportedTaskCategories).toMatchObject([{ name: "query", version: 1 }]);
  await expect(admin.getAgent({ name: "d" })).rejects.toMatchObject({ code: Code.NOT_FOUND });
  await expect(admin.getAgent({})).rejects.toMatchObject({ code: Code.INVALID_ARGUMENT });
});

test("an unreachable connector hides no other", async () => {
  const admin = await adminOf([dead, second]);
  expect((await admin.listAgents({})).agents.map(({ name }) => name)).toEqual(["b", "c"]);
  expect((await admin.getAgent({ name: "c" })).agent?.name).toBe("c");
  await expect(admin.getAgent({ name: "a" })).rejects.toMatchObject({ code: Code.UNAVAILABLE });
});

test("without connectors the list is empty", async () => {
  const admin = await adminOf([]);
  expect((await admin.listAgents({})).agents).toEqual([]);
  await expect(admin.getAgent({ name: "a" })).rejects.toMatchObject({ code: Code.NOT_FOUND });
});
