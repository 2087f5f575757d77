import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, createRegistry, type DescMethod, equals, fromBinary, fromJsonString, type Message, toBinary } from "@bufbuild/protobuf";
import { clientCredentials } from "@flyte-ts/auth";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { type Channel, createClient, createRpcServer, implement, openChannel, type RpcServer } from "@flyte-ts/rpc";
import { createLogger } from "@flyte-ts/telemetry";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningAdmin, startAdmin } from "../stack/admin-fixture.js";
import { type Binding, bindingsOf, type ContentType, CONTENT_TYPES } from "./rest-bindings.js";
import { AGENT, seedFixtures, nameOf, samples, type Sample, SERVICES } from "./rpc-samples.js";

// Calls every RPC that clients of Flyte use by gRPC and by each of its REST paths, as JSON and as
// protobuf: all responses must be equal.
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-every-rpc-"));
const METHODS: readonly DescMethod[] = SERVICES.flatMap(({ methods }): readonly DescMethod[] => methods);
/** Methods whose responses contain signatures, which depend on the time. */
const SIGNED = ["CreateUploadLocation", "CreateDownloadLocation", "CreateDownloadLink"];

let connector: RpcServer;
let admin: RunningAdmin;
let channel: Channel;
let client: FlyteClient;
let metadata: () => Promise<Record<string, string>>;
let requests: ReadonlyMap<string, Sample>;

beforeAll(async () => {
  connector = createRpcServer({
    logger: createLogger({ service: "test", level: "silent" }),
    services: [implement(AgentMetadataService, { listAgents: () => ({ agents: [AGENT] }) })],
  });
  const { port } = await connector.listen({ host: "127.0.0.1", port: 0 });
  admin = await startAdmin((api) => ({
    agents: { endpoints: [`127.0.0.1:${port}`] },
    auth: {
      mode: "required",
      publicUrl: `http://127.0.0.1:${api}`,
      // A client of the issuer with an engine's permissions in every scope.
      builtIn: { services: ["robot"], secretsFolder: folder },
      roles: [{ subject: "robot", role: "admin" }],
    },
  }));
  const endpoint = `127.0.0.1:${admin.api}`;
  const auth = clientCredentials(
    endpoint,
    { clientId: "robot", clientSecretFile: join(folder, "robot"), scopes: ["all"] },
    () => new Date(),
  );
  metadata = async () => ({ ...(await auth.metadata?.()) });
  channel = openChannel({ endpoint, ...auth });
  client = createFlyteClient({ endpoint, ...auth });
  await seedFixtures(client);
  requests = samples(client);
}, 120_000);
afterAll(async () => {
  client.close();
  channel.close();
  await admin.stop();
  await connector.drain({ deadlineMs: 100 });
  rmSync(folder, { recursive: true, force: true });
});

test("every RPC has a sample request", () => {
  expect([...requests.keys()].sort()).toEqual(METHODS.map(nameOf).sort());
});

async function requestFor(method: DescMethod, fresh: string): Promise<Message> {
  const made = await requests.get(nameOf(method))?.(fresh);
  return create(method.input, made as Message);
}

async function callByGrpc(method: DescMethod, fresh: string): Promise<Message> {
  const service = createClient({ channel, service: method.parent }) as unknown as Record<string, (request: Message) => Promise<Message>>;
  const call = service[method.localName];
  if (call === undefined) throw new Error(`no method ${method.localName}`);
  return call(await requestFor(method, fresh));
}

async function callByRest(method: DescMethod, binding: Binding, { form, fresh }: { form: ContentType; fresh: string }): Promise<Message> {
  const { method: verb, path, body } = binding.request(await requestFor(method, fresh), form);
  const headers = { ...(await metadata()), "content-type": form, accept: form };
  const response = await fetch(`http://127.0.0.1:${admin.api}${path}`, {
    method: verb,
    headers,
    ...(body !== undefined && { body: body as NonNullable<RequestInit["body"]> }),
  });
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${verb} ${path} answered ${response.status}: ${Buffer.from(bytes).toString()}`);
  if (response.headers.get("content-type") !== form) throw new Error(`${verb} ${path} answered otherwise than ${form}`);
  if (form === "application/octet-stream") return fromBinary(method.output, bytes);
  return fromJsonString(method.output, Buffer.from(bytes).toString(), { registry: createRegistry(method.parent.file) });
}

/**
 * Lists the transports whose response differs from gRPC's, or `nothing` when a read returns no
 * data.
 */
async function differingTransports(method: DescMethod): Promise<string[]> {
  const answer = await callByGrpc(method, "g");
  const reads = /^(Get|List)(?!OrCreate)/.test(method.name) && !SIGNED.includes(method.name);
  const differing = reads && toBinary(method.output, answer).length === 0 ? ["nothing"] : [];
  for (const [index, binding] of bindingsOf(method).entries()) {
    for (const form of CONTENT_TYPES) {
      const other = await callByRest(method, binding, { form, fresh: `${form === "application/json" ? "j" : "o"}${index}` });
      if (reads && !equals(method.output, other, answer)) differing.push(`${binding.text} ${form}`);
    }
  }
  return differing;
}

describe.each(SERVICES.map((service) => [service.name, service] as const))("%s", (_, service) => {
  test.each(service.methods.map((method): [string, DescMethod] => [method.name, method]))("%s", async (__, method) => {
    expect(await differingTransports(method)).toEqual([]);
  });
});
